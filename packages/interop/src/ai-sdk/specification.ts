/**
 * The types of the AI SDK's language models, by their shape: versions 2, 3 and 4 of the specification, as `@ai-sdk/provider` 4.0.38
 * declares them (read on 2026-11-26). This module does not need that package; `test/sdk/aiSdkModel.test-d.ts` compares the types.
 */
import type { Json, JsonObject } from "effect/Schema"

/** The versions of the specification that this library supports. */
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
  // `never`: each version has its own call options. `CallOptions` has those that this library passes.
  readonly doGenerate: (options: never) => PromiseLike<Generated>
  readonly doStream: (options: never) => PromiseLike<Streamed>
}

/** The result of `doGenerate`. Its parts are read as JSON. */
interface Generated {
  readonly content: ReadonlyArray<unknown>
  readonly finishReason: unknown
  readonly usage: unknown
  readonly providerMetadata?: unknown
  readonly response?: unknown
}

/** The result of `doStream`: the stream of parts, and facts about the response. */
interface Streamed {
  readonly stream: ReadableStream<unknown>
  readonly response?: unknown
}

/** Options or metadata for providers, by their names. */
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

/** A part of an assistant message. `Further` has the parts that only one version has. */
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

/**
 * The types that differ between the versions: `data` of a file in a message, `shown` for a file in a tool result, and `further` parts of an
 * assistant message.
 */
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

/** The content of a file in version 4. */
export type DataOfV4 =
  | { type: "data"; data: string }
  | { type: "url"; url: URL }
  | { type: "reference"; reference: Record<string, string> }

/** A tool that the provider runs, as the SDK declares it, but without the field `type`, whose value depends on the version. */
export interface ProviderTool {
  readonly id: `${string}.${string}`
  readonly name: string
  readonly args: Record<string, unknown>
}

/** The options of one call, as version `V` of the specification defines them. */
export interface CallOptions<V extends Version> {
  prompt: Array<PromptMessage<Parts[V]["data"], Parts[V]["shown"], Parts[V]["further"]>>
  tools?: Array<
    | {
        type: "function"
        name: string
        description: string
        // `never`, because the SDK's type for a JSON Schema lists all keywords
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
  /** The reasoning effort. Only version 4 has it. */
  readonly reasoning?: "provider-default" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
  readonly headers?: Readonly<Record<string, string>>
  /** Options by the name of the provider: `{ anthropic: { thinking: … } }`. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>
}
