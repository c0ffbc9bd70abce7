/**
 * Writes the table of providers and their quirks into `docs/guide/providers.md`, between its marks. Both are drawn from the
 * provider modules; everything else on the page is written by hand.
 *
 *   node scripts/launch.mjs scripts/providers.ts
 */
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import type * as Capabilities from "@kintsugi/providers/Capabilities"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type { Config, Layer } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"

export const path = "docs/guide/providers.md"

/** What every provider module has. */
export interface Module {
  readonly capabilities: Capabilities.Capabilities
  readonly quirks: ReadonlyArray<string>
  readonly model: (name: string) => Layer.Layer<never, Config.ConfigError>
}

export interface Listed {
  readonly title: string
  /** The variable that holds its key; absent where none is needed. */
  readonly key?: string
  readonly module: Module
}

/** All providers, by the names of their modules, in the order of the page. A new one gets a line here. */
export const providers: Readonly<Record<string, Listed>> = {
  OpenAi: { title: "OpenAI, chat completions", key: "OPENAI_API_KEY", module: OpenAi },
  OpenAiResponses: {
    title: "OpenAI, responses",
    key: "OPENAI_API_KEY",
    module: { ...OpenAiResponses, model: OpenAi.responses }
  },
  Anthropic: { title: "Anthropic", key: "ANTHROPIC_API_KEY", module: Anthropic },
  Gemini: { title: "Gemini", key: "GEMINI_API_KEY", module: Gemini },
  Ollama: { title: "Ollama", module: Ollama },
  DeepSeek: { title: "DeepSeek", key: "DEEPSEEK_API_KEY", module: DeepSeek },
  Kimi: { title: "Kimi (Moonshot)", key: "MOONSHOT_API_KEY", module: Kimi },
  OpenRouter: { title: "OpenRouter", key: "OPENROUTER_API_KEY", module: OpenRouter },
  Perplexity: { title: "Perplexity", key: "PERPLEXITY_API_KEY", module: Perplexity }
}

const titles = [
  "module",
  "key",
  "tools",
  "tool choice",
  "images",
  "files",
  "output",
  "tool errors",
  "reasoning",
  "prompt cache"
]

const rowOf = ([name, { key, module }]: readonly [string, Listed]): ReadonlyArray<string> => {
  const { files, images, output, promptCache, reasoning, toolChoice, toolErrors, tools } = module.capabilities
  const among = (values: ReadonlyArray<string>) => (values.length === 0 ? "–" : values.join(", "))
  return [
    `[\`${name}\`](#${name.toLowerCase()})`,
    key === undefined ? "–" : `\`${key}\``,
    tools ? "yes" : "no",
    among(toolChoice),
    among(images),
    among(files),
    output,
    toolErrors,
    reasoning,
    promptCache
  ]
}

const table = (): string =>
  [titles, titles.map(() => "---"), ...Object.entries(providers).map(rowOf)]
    .map((row) => `| ${row.join(" | ")} |`)
    .join("\n")

const quirksOf = ([name, { module, title }]: readonly [string, Listed]): string =>
  [`### ${name}`, "", `${title}.`, "", ...module.quirks.map((quirk) => `- ${quirk}`)].join("\n")

/** The page with its blocks written anew. */
export const render = (page: string): string => {
  const blocks: Readonly<Record<string, string>> = {
    capabilities: table(),
    quirks: Object.entries(providers).map(quirksOf).join("\n\n")
  }
  return page.replaceAll(
    /(<!-- (capabilities|quirks) -->\n)[^]*?(<!-- \/\2 -->)/g,
    (_all, opening, name, close) => `${opening}\n${blocks[name] ?? ""}\n\n${close}`
  )
}

if (import.meta.main) {
  const file = join(root, path)
  writeFileSync(file, render(readFileSync(file, "utf8")))
}
