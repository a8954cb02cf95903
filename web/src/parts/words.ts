import { t } from "../i18n";

/** Codes of states, faults and outcomes in words, as the commands have them. */
export const WORDS: Record<string, string> = {
  created: "begun",
  pending: "waiting",
  parked: "waiting",
  set_aside: "quarantined",
  dead: "given up",
  cancelled: "stopped",
  auth: "its key was refused",
  billing: "its account has no credit",
  rate_limit: "its rate limit was reached",
  overload: "its server is overloaded",
  network: "its server cannot be reached",
  timeout: "its server did not answer in time",
  model_not_found: "its server does not know it",
  context_overflow: "too long for the model",
  bad_request: "the model's server refused the request",
  garbage: "the model's answer was unreadable",
  cut_stream: "the model's answer broke off",
  empty_answer: "the model gave no answer",
  filtered: "the model's provider blocked it",
  no_model: "no model is connected",
  model_settings: "the model's settings are wrong",
  budget: "the budget does not allow it",
  unknown_tool: "there is no such tool",
  not_loaded: "the model has not loaded this tool yet",
  bad_arguments: "the model's arguments do not fit the tool",
  loop: "refused: the same call again and again",
  unknown_outcome: "Hob was stopped during it, so its outcome is unknown",
};

/** A code in the reader's words; one that has none as it is. */
export const wordOf = (code: string) => t(WORDS[code] ?? code);
