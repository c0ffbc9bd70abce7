/**
 * Writes the table of providers into `docs/guide/providers.md`, between its marks, from the capabilities of their modules.
 * Everything else on the page is written by hand.
 *
 *   npm run providers
 */
import { Anthropic, DeepSeek, Gemini, Kimi, Ollama, OpenAi, OpenRouter, Perplexity } from "@kintsugi/providers"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import type * as Capabilities from "../packages/providers/src/codec/Capabilities.ts"
import * as AnthropicMessages from "../packages/providers/src/codec/anthropic/AnthropicMessages.ts"
import * as BedrockConverse from "../packages/providers/src/codec/bedrock/BedrockConverse.ts"
import * as GeminiContent from "../packages/providers/src/codec/gemini/GeminiContent.ts"
import * as OllamaChat from "../packages/providers/src/codec/ollama/OllamaChat.ts"
import * as OpenAiChat from "../packages/providers/src/codec/openai-chat/OpenAiChat.ts"
import * as OpenAiResponses from "../packages/providers/src/codec/openai-responses/OpenAiResponses.ts"
import type { Config, Layer } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"

export const path = "docs/guide/providers.md"

/** The page with a section for each provider, to which the table links. */
export const notes = "provider-notes.md"

export interface Listed {
  /** The variable that holds its key; absent where none is needed. */
  readonly key?: string
  readonly model: (name: string) => Layer.Layer<never, Config.ConfigError>
  readonly capabilities: Capabilities.Capabilities
}

/** All providers, by the names of their modules, in the order of the page. A new one gets a line here. */
export const providers: Readonly<Record<string, Listed>> = {
  OpenAi: {
    key: "OPENAI_API_KEY",
    model: OpenAi.model,
    capabilities: OpenAiChat.capabilities
  },
  OpenAiResponses: {
    key: "OPENAI_API_KEY",
    model: OpenAi.responses,
    capabilities: OpenAiResponses.capabilities
  },
  Anthropic: {
    key: "ANTHROPIC_API_KEY",
    model: Anthropic.model,
    capabilities: AnthropicMessages.capabilities
  },
  Gemini: {
    key: "GEMINI_API_KEY",
    model: Gemini.model,
    capabilities: GeminiContent.capabilities
  },
  Bedrock: {
    key: "AWS_ACCESS_KEY_ID",
    model: Bedrock.model,
    capabilities: BedrockConverse.capabilities
  },
  Ollama: { model: Ollama.model, capabilities: OllamaChat.capabilities },
  DeepSeek: { key: "DEEPSEEK_API_KEY", ...DeepSeek },
  Kimi: { key: "MOONSHOT_API_KEY", ...Kimi },
  OpenRouter: { key: "OPENROUTER_API_KEY", ...OpenRouter },
  Perplexity: { key: "PERPLEXITY_API_KEY", ...Perplexity }
}

const titles = ["module", "key", "tool choice", "images", "files", "output", "tool errors", "reasoning", "prompt cache"]

const rowOf = ([name, { capabilities, key }]: readonly [string, Listed]): ReadonlyArray<string> => {
  const { files, images, output, promptCache, reasoning, toolChoice, toolErrors } = capabilities
  const among = (values: ReadonlyArray<string>) => (values.length === 0 ? "–" : values.join(", "))
  return [
    `[\`${name}\`](${notes}#${name.toLowerCase()})`,
    key === undefined ? "–" : `\`${key}\``,
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

/** The page with its table written anew. */
export const render = (page: string): string =>
  page.replace(
    /(<!-- capabilities -->\n)[^]*?(<!-- \/capabilities -->)/,
    (_all, opening, close) => `${opening}\n${table()}\n\n${close}`
  )

if (import.meta.main) {
  const file = join(root, path)
  writeFileSync(file, render(readFileSync(file, "utf8")))
}
