/**
 * The names of models that pages, changesets, examples and doc comments may have. When a provider retires a model, move its name from
 * `current` to `gone`, with its successor: this command then writes the successor wherever the old name is.
 *
 *   node scripts/launch.mjs scripts/modelNames.ts
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type File, filesIn, root } from "./files.ts"

/** Names that providers serve, each with the public page that has it, looked up on 2026-11-26. */
export const current: Readonly<Record<string, string>> = {
  "claude-opus-5-5": "platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5",
  "claude-haiku-4.5": "openrouter.ai/anthropic/claude-haiku-4.5",
  "claude-sonnet-4-6": "platform.claude.com/docs/en/about-claude/models",
  "claude-sonnet-4.6": "openrouter.ai/anthropic/claude-sonnet-4.6",
  "deepseek-flash": "api-docs.deepseek.com",
  "gemini-3.8-flash": "ai.google.dev/gemini-api/docs/deprecations",
  "gpt-5": "developers.openai.com/api/docs/models",
  "gpt-5-mini": "developers.openai.com/api/docs/models",
  "gpt-5.6-sol": "docs.perplexity.ai/docs/agent-api/models",
  // from AgentScope's page of Kimi; a page of Moonshot itself was not among those that could be read
  "kimi-k3": "docs.agentscope.io",
  qwen3: "ollama.com/library/qwen3",
  sonar: "docs.perplexity.ai/docs/agent-api/models"
}

/** Names that no provider serves any more, or not for long, with their successor and the day. */
export const gone: Readonly<Record<string, { readonly to: string; readonly since: string }>> = {
  "deepseek-chat": { to: "deepseek-flash", since: "2026-07-24" },
  "deepseek-reasoner": { to: "deepseek-flash", since: "2026-07-24" },
  "gemini-2.5-flash": { to: "gemini-3.8-flash", since: "2026-12-01" },
  "kimi-k2": { to: "kimi-k3", since: "2026" },
  "kimi-k2-thinking": { to: "kimi-k3", since: "2026" }
}

/** Names of old models in code that pages quote from other projects, and names that no model has. */
export const quoted: ReadonlySet<string> = new Set([
  "claude-sonnet-4",
  "gpt-3.5-turbo",
  "gpt-4o",
  "gpt-4o-mini",
  "gpt-9",
  "llama-2",
  "llama3"
])

/** Words that look like names of models: names of wire formats. */
const others: ReadonlySet<string> = new Set(["gemini-content", "gemini-interactions", "llama-chat"])

/** A name within quotes, perhaps behind its vendor and before a tag. */
const quotation =
  /(["'`])((?:[a-z]+\/)?)((?:claude|gpt|gemini|deepseek|kimi|grok|glm|mistral)-[\w.-]+|(?:qwen|llama)[\w.-]*|sonar(?:-[\w-]+)?)((?::\w+)?\1)/g

/** The texts that are read: what users read, without the table of old names, and of sources the comments. */
export const texts = (): ReadonlyArray<File> => [
  ...filesIn("docs/guide", (path) => path.endsWith(".md")),
  ...["docs/errors.md", "README.md", "packages"].flatMap((path) => filesIn(path, (file) => file.endsWith(".md"))),
  ...filesIn("packages/examples/src", (path) => path.endsWith(".ts")),
  ...filesIn("packages", (path) => path.endsWith(".ts") && path.includes("/src/") && !path.includes("/testing/")).map(
    ({ path, text }) => ({ path, text: text.replaceAll(code, "") })
  )
]

/** A line of a source that is none of a doc comment. */
const code = /^(?!\s*\*).*$/gm

/** The names of models in a text. */
export const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(quotation)].flatMap(([, , , name = ""]) => (others.has(name) ? [] : [name]))

/** The text with the successors of names that are gone. */
export const renewed = (text: string): string =>
  text.replaceAll(
    quotation,
    (_all, quote: string, vendor: string, name: string, end: string) =>
      `${quote}${vendor}${gone[name]?.to ?? name}${end}`
  )

if (import.meta.main) {
  for (const path of new Set(texts().map(({ path }) => path))) {
    const isSource = path.endsWith(".ts") && !path.startsWith("packages/examples/")
    for (const { text } of filesIn(path)) {
      // of a source, the comments alone
      const written = isSource ? text.replaceAll(/^\s*\*.*$/gm, renewed) : renewed(text)
      if (written !== text) writeFileSync(join(root, path), written)
    }
  }
}
