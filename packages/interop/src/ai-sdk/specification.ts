/**
 * The language models of the AI SDK by their shape: versions 2, 3 and 4 of the specification, as `@ai-sdk/provider` declares them (read in
 * 4.0.38, which has all three, on 2026-11-26). This module does not need the package; `test/sdk/aiSdkModel.test-d.ts` compares.
 */
import type { Json, JsonObject } from "effect/Schema"

/** The versions that are read. */
export type Version = "v2" | "v3" | "v4"

/**
 * A language model of the AI SDK. An example is `openai("gpt-5.6-sol")` of `@ai-sdk/openai`. Its functions are called as their
 * specification says.
 */
export interface LanguageModel {
  readonly specificationVersion: Version
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls?: unknown
  // Each version has call options of its own; `CallOptions` has what this library sends.
  readonly doGenerate: (options: never) => PromiseLike<Generated>
  readonly doStream: (options: never) => PromiseLike<Streamed>
}

/** What `doGenerate` gives. The parts are read as JSON. */
interface Generated {
  readonly content: ReadonlyArray<unknown>
  readonly finishReason: unknown
  readonly usage: unknown
  readonly providerMetadata?: unknown
  readonly response?: unknown
}

/** What `doStream` gives. */
interface Streamed {
  readonly stream: ReadableStream<unknown>
  readonly response?: unknown
}

/** Data for providers, by their names. */
export type ByProvider = Record<string, JsonObject>

interface Optional {
  providerOptions?: ByProvider
}

interface TextPart extends Optional {
  type: "text"
  text: string
}

interface FilePart<Data> extends Optional {
  type: "file"
  mediaType: string
  data: Data
  filename?: string
}

/** The result of a tool. */
export interface ResultPart<Shown> extends Optional {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output:
    | { type: "text" | "error-text"; value: string }
    | { type: "json" | "error-json"; value: Json }
    | { type: "content"; value: Array<{ type: "text"; text: string } | Shown> }
}

interface CallPart extends Optional {
  type: "tool-call"
  toolCallId: string
  toolName: string
  input: unknown
  providerExecuted?: boolean
}

interface ReasoningPart extends Optional {
  type: "reasoning"
  text: string
}

interface ReasoningFilePart<Data> extends Optional {
  type: "reasoning-file"
  mediaType: string
  data: Data
}

interface CustomPart extends Optional {
  type: "custom"
  kind: `${string}.${string}`
}

/** A part of an assistant message. `Further` are those of a version alone. */
export type AssistantPart<Data, Shown, Further> =
  | TextPart
  | ReasoningPart
  | FilePart<Data>
  | CallPart
  | ResultPart<Shown>
  | Further

/** A message of a prompt. */
export type PromptMessage<Data, Shown, Further> =
  | { role: "system"; content: string }
  | { role: "user"; content: Array<TextPart | FilePart<Data>> }
  | { role: "assistant"; content: Array<AssistantPart<Data, Shown, Further>> }
  | { role: "tool"; content: Array<ResultPart<Shown>> }

/** What differs between the versions: how files are given, how they stand in results, and what else an assistant message has. */
export interface Parts {
  readonly v2: {
    data: string | URL
    shown: { type: "media"; data: string; mediaType: string }
    further: never
  }
  readonly v3: {
    data: string | URL
    shown:
      | { type: "image-data" | "file-data"; data: string; mediaType: string; filename?: string }
      | { type: "image-url" | "file-url"; url: string }
      | { type: "image-file-id" | "file-id"; fileId: string }
    further: never
  }
  readonly v4: {
    data: DataOfV4
    shown: { type: "file"; data: DataOfV4; mediaType: string; filename?: string }
    further: ReasoningFilePart<Exclude<DataOfV4, { type: "reference" }>> | CustomPart
  }
}

/** How version 4 gives a file. */
export type DataOfV4 =
  | { type: "data"; data: string }
  | { type: "url"; url: URL }
  | { type: "reference"; reference: Record<string, string> }

/** A tool that the provider runs, as the SDK declares it; each version has a word of its own for its `type`. */
export interface ProviderTool {
  readonly id: `${string}.${string}`
  readonly name: string
  readonly args: Record<string, unknown>
}

/** The options of one call, as a version takes them. */
export interface CallOptions<V extends Version> {
  prompt: Array<PromptMessage<Parts[V]["data"], Parts[V]["shown"], Parts[V]["further"]>>
  tools?: Array<
    | {
        type: "function"
        name: string
        description: string
        // any JSON Schema: their type of it lists all keywords
        inputSchema: never
      }
    | (ProviderTool & { type: V extends "v2" ? "provider-defined" : "provider" })
  >
  toolChoice?: { type: "auto" | "none" | "required" } | { type: "tool"; toolName: string }
  responseFormat?: { type: "json"; name: string; schema: never }
  providerOptions?: ByProvider
  abortSignal?: AbortSignal
}

/** What is sent with each call, in the names of the SDK. */
export interface CallSettings {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly stopSequences?: ReadonlyArray<string>
  readonly seed?: number
  /** The effort; of version 4. */
  readonly reasoning?: "provider-default" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
  readonly headers?: Readonly<Record<string, string>>
  /** By the name of a provider: `{ anthropic: { thinking: … } }`. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
}
