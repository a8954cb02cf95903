// before the first paint: theme, language, rail width and density, as chosen or as the system has them, and the frame
(() => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const setTheme = () => {
    const kept = localStorage.getItem("hob.theme");
    document.documentElement.dataset.theme = (kept ? kept === "dark" : system.matches) ? "dark" : "light";
  };
  setTheme();
  system.addEventListener("change", setTheme);
  document.documentElement.lang = localStorage.getItem("hob.language") || (navigator.language.startsWith("de") ? "de" : "en");
  for (const look of ["rail", "density"]) document.documentElement.dataset[look] = localStorage.getItem(`hob.${look}`) || "";
  document.documentElement.dataset.login = localStorage.getItem("hob.csrf") ? "yes" : "";
  // a place's code is fetched with the rest of the page, not after it
  const place = location.pathname.split("/")[1];
  if (!["canvas", "chat", "costs", "files", "memory", "settings", "timeline", "trace", "trust", "view", "work"].includes(place)) return;
  for (const file of [place, "shared"]) document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", href: `/app/${file}.js` }));
})();
