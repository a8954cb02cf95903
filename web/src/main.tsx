import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, startTransition, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import "./app.css";
import { login } from "./api/client";
import { queries } from "./api/queries";
import { loadLanguage, useLanguage } from "./i18n";
import { Login } from "./parts/login";
import { Shell } from "./parts/shell";
import "./parts/worker";

function App() {
  const csrf = useSyncExternalStore(login.subscribe, login.csrf);
  const language = useLanguage();
  return csrf && !location.hash.startsWith("#login=") ? <Shell key={language} /> : <Login key={language} />;
}

await loadLanguage();
// as a transition, which lets the browser answer to touch in between
startTransition(() => createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
));
