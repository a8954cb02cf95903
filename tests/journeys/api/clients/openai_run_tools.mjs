// OpenAI's own client with a tool of this program: `runTools` calls it and sends its result. Prints the answer.
import OpenAI from "openai";

const [url, key, question] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 10, timeout: 60_000 });
const runner = client.chat.completions.runTools({
  model: "hob",
  messages: [{ role: "user", content: question }],
  tools: [
    {
      type: "function",
      function: {
        name: "get_weather",
        description: "The weather in a city.",
        parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        parse: JSON.parse,
        function: async ({ city }) => {
          process.stdout.write("called\n");
          await new Promise((done) => process.stdin.once("data", done)); // the test says when it goes on
          return `rain in ${city}`;
        },
      },
    },
  ],
});
console.log(await runner.finalContent());
process.exit();
