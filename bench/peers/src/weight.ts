/** What an agent with one tool weighs with each library when it is bundled, and how long it takes to load. */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle, importTimes, inFolder, install } from "../../src/bundling.ts"
import { report } from "../../src/figures.ts"
import { median } from "../../src/harness.ts"

const entries = {
  "bare TypeScript with zod": "../../src/hello/typescript.ts",
  ai: "./hello/ai.ts",
  "effect/ai": "./hello/effectAi.ts",
  "@openai/agents": "./hello/openaiAgents.ts",
  "@langchain/langgraph": "./hello/langgraph.ts",
  "@mastra/core": "./hello/mastra.ts",
  "openai SDK": "./hello/openai.ts"
}

await inFolder(async (folder) => {
  install(folder)
  const bundles = [await bundle(folder, "ours", join(folder, "ours.mjs"))]
  for (const [name, entry] of Object.entries(entries)) {
    bundles.push(await bundle(folder, name, fileURLToPath(new URL(entry, import.meta.url))))
  }
  const times = importTimes(
    bundles.map(({ file }) => file),
    10
  )
  report("a bundled hello agent, ours and the peers", [
    ...bundles.map(({ gzip, name }) => ({ name: `${name}, gzip`, value: gzip, unit: "KB" })),
    ...bundles.map(({ name }, index) => ({
      name: `${name}, start`,
      value: median((times[index] ?? []).map(({ wall }) => wall)),
      unit: "ms"
    }))
  ])
})
