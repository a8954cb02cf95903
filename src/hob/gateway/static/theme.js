// before the first paint: the theme that was chosen, else the system's
(() => {
  const kept = localStorage.getItem("hob.theme");
  const dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.documentElement.lang = localStorage.getItem("hob.language") || (navigator.language.startsWith("de") ? "de" : "en");
})();
