// The theme is set before anything is drawn, so that nothing flashes.
"use strict";
try {
  const theme = localStorage.getItem("ctxfs-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch { /* storage is switched off: as the system */ }
