import { defineConfig } from "vite";
import react from "@vitejs/plugin-react";
import tailwind from "@tailwindcss/vite";

// Names without a hash: the build is committed, and its files are told apart by their ETags.
export default defineConfig({
  plugins: [react(), tailwind()],
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
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:18791", "/ws": { target: "ws://127.0.0.1:18791", ws: true } } },
});
