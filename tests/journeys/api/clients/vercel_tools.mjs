// The Vercel AI SDK with a tool of this program: `generateText` calls it and sends its result. Prints the answer.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";

const [url, apiKey, question] = process.argv.slice(2);
const hob = createOpenAICompatible({ name: "hob", baseURL: `${url}/v1`, apiKey });
const { text } = await generateText({
  model: hob("hob"),
  prompt: question,
  maxRetries: 10,
  stopWhen: stepCountIs(3),
  tools: {
    get_weather: tool({
      description: "The weather in a city.",
      inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
      execute: async ({ city }) => {
        process.stdout.write("called\n");
        await new Promise((done) => process.stdin.once("data", done)); // the test says when it goes on
        return `rain in ${city}`;
      },
    }),
  },
});
console.log(text);
process.exit();
