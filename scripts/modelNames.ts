/**
 * The names of models that pages, changesets, examples, tools and doc comments may have. When a provider retires a model, move its name from
 * `current` to `gone`, with its successor: this command then writes the successor wherever the old name is.
 *
 *   npm run models
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type File, filesIn, root } from "./files.ts"

/** Names that providers serve, each with the public page that has it, looked up on 2026-11-26. */
export const current: Readonly<Record<string, string>> = {
  "claude-opus-5-5": "platform.claude.com/docs/en/models/opus-5-5/whats-new-opus-5-5",
  "claude-haiku-4-5": "platform.claude.com/docs/en/about-claude/models",
  "claude-haiku-4.5": "openrouter.ai/anthropic/claude-haiku-4.5",
  "claude-sonnet-4-6": "platform.claude.com/docs/en/about-claude/models",
  "claude-sonnet-4.6": "openrouter.ai/anthropic/claude-sonnet-4.6",
  "deepseek-flash": "api-docs.deepseek.com",
  "gemini-3.8-flash": "ai.google.dev/gemini-api/docs/deprecations",
  "gpt-5.6-sol": "docs.perplexity.ai/docs/agent-api/models",
  "gpt-5.6-terra": "developers.openai.com/api/docs/models/gpt-5.6-terra",
  // from AgentScope's page of Kimi; a page of Moonshot itself was not among those that could be read
  "kimi-k3": "docs.agentscope.io",
  "mistral-small-latest": "docs.mistral.ai/capabilities/reasoning",
  qwen3: "ollama.com/library/qwen3",
  sonar: "docs.perplexity.ai/docs/agent-api/models"
}

/** Names that no provider serves any more, or not for long, with their successor and the day. */
export const gone: Readonly<Record<string, { readonly to: string; readonly since: string }>> = {
  "deepseek-chat": { to: "deepseek-flash", since: "2026-07-24" },
  "deepseek-reasoner": { to: "deepseek-flash", since: "2026-07-24" },
  "gemini-2.5-flash": { to: "gemini-3.8-flash", since: "2026-12-01" },
  // the provider names gpt-6.1-sol and gpt-6.1-terra, whose chat completions take no tools
  "gpt-5": { to: "gpt-5.6-sol", since: "2026-12-11" },
  "gpt-5-mini": { to: "gpt-5.6-terra", since: "2026-12-11" },
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

/** Words that look like names of models: names of wire formats and of programs. */
const others: ReadonlySet<string> = new Set(["gemini-content", "gemini-interactions", "llama-chat"])

/** A word: a name may stand in quotes or not, behind its vendor, before a tag, or at the end of a sentence. */
const word = /\w(?:[\w.-]*\w)?/g

/** How the names of models begin. */
const beginning =
  /^(?:(?:claude|codestral|deepseek|devstral|gemini|glm|gpt|grok|kimi|magistral|ministral|mistral|pixtral)-|(?:qwen|llama)-?\d|o\d(?:-|$)|sonar(?:-|$))/

const isMarkdown = (path: string): boolean => path.endsWith(".md")
const isProgram = (path: string): boolean => path.endsWith(".ts")

/** The texts that are read whole: pages, examples, and tools that ask models. The table of old names is none of them. */
const whole = (): ReadonlyArray<File> => [
  ...filesIn("docs/guide", isMarkdown),
  ...["docs/errors.md", "docs/reports/eval.md", "README.md", ".changeset", "packages"].flatMap((path) =>
    filesIn(path, isMarkdown)
  ),
  ...["packages/examples/src", "packages/examples/recipes"].flatMap((folder) => filesIn(folder, isProgram)),
  ...["tools/eval", "tools/live"].flatMap((path) => [
    ...filesIn(`${path}/src`, isProgram),
    ...filesIn(path, isMarkdown)
  ])
]

/** The sources of which the doc comments are read. */
const sources = (): ReadonlyArray<File> =>
  filesIn(
    "packages",
    (path) =>
      isProgram(path) && path.includes("/src/") && !path.includes("/testing/") && !path.startsWith("packages/examples/")
  )

/** The texts that have names of models, of sources the comments. */
export const texts = (): ReadonlyArray<File> => [
  ...whole(),
  ...sources().map(({ path, text }) => ({ path, text: text.replaceAll(code, "") }))
]

/** A line of a source that is none of a doc comment. */
const code = /^(?![ \t]*\*).*$/gm

/** The names of models in a text. */
export const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(word)].flatMap(([name]) => (beginning.test(name) && !others.has(name) ? [name] : []))

/** The text with the successors of names that are gone. */
export const renewed = (text: string, names: Readonly<Record<string, { readonly to: string }>> = gone): string =>
  text.replaceAll(word, (name) => (Object.hasOwn(names, name) ? (names[name]?.to ?? name) : name))

/** The files of which `renewed` changes a name, with their new texts. */
export const changed = (names: Readonly<Record<string, { readonly to: string }>> = gone): ReadonlyArray<File> =>
  [
    ...whole().map(({ path, text }) => ({ path, text, to: renewed(text, names) })),
    ...sources().map(({ path, text }) => ({
      path,
      text,
      to: text.replaceAll(/^[ \t]*\*.*$/gm, (line) => renewed(line, names))
    }))
  ].flatMap(({ path, text, to }) => (to === text ? [] : [{ path, text: to }]))

if (import.meta.main) for (const { path, text } of changed()) writeFileSync(join(root, path), text)
