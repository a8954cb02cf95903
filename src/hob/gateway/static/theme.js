// before the first paint: the theme that was chosen, else the system's; the width of the rail and the room between lines
(() => {
  const kept = localStorage.getItem("hob.theme");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.lang = localStorage.getItem("hob.language") || (navigator.language.startsWith("de") ? "de" : "en");
  for (const look of ["rail", "density"]) document.documentElement.dataset[look] = localStorage.getItem(`hob.${look}`) || "";
})();
