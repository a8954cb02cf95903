import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import react from "@vitejs/plugin-react";
import tailwind from "@tailwindcss/vite";

/** The service worker keeps every file of the build, so that a place opens without a network that was never opened. */
function precache(): Plugin {
  let folder = "";
  let names: string[] = [];
  return {
    name: "precache",
    apply: "build",
    configResolved: (config) => { folder = config.build.outDir; },
    writeBundle: (_, bundle) => { names = Object.keys(bundle).filter((name) => name.startsWith("app/")).sort(); },
    closeBundle: () => {
      const worker = join(folder, "sw.js");
      const added = names.map((name) => `, "/${name}"`).join("");
      writeFileSync(worker, readFileSync(worker, "utf-8").replace("]; // the build adds its own", `${added}];`));
    },
  };
}

// Names without a hash: the build is committed, and its files are told apart by their ETags.
export default defineConfig({
  plugins: [react(), tailwind(), precache()],
  build: {
    outDir: "../src/hob/gateway/static",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    chunkSizeWarningLimit: 600,
    rollupOptions: {
      output: {
        entryFileNames: "app/[name].js",
        chunkFileNames: "app/[name].js",
        assetFileNames: "app/[name][extname]",
        // what the first page needs is one file: each further one costs a round trip
        codeSplitting: { groups: [{ name: "base", tags: ["$initial"] }, { name: "shared", minShareCount: 2, test: /lucide-react|src.parts.(?!markdown)/ }] },
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:18791", "/ws": { target: "ws://127.0.0.1:18791", ws: true } } },
});
