// The Vercel AI SDK's structured output. Prints the object.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Output, generateText, jsonSchema } from "ai";

const [url, apiKey, question] = process.argv.slice(2);
const hob = createOpenAICompatible({ name: "hob", baseURL: `${url}/v1`, apiKey, supportsStructuredOutputs: true });
const schema = jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false });
const { output } = await generateText({ model: hob("hob"), prompt: question, output: Output.object({ schema }) });
console.log(JSON.stringify(output));
