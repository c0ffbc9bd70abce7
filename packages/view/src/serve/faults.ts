/** Breaks a run on purpose: each chosen fault happens once. */
import type { Model } from "@kintsugi/core"
import { type LlmError, type Message } from "@kintsugi/core"
import type * as Interception from "@kintsugi/core/Interception"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { randomOf, tagsIn, valueOf } from "./generating.ts"
import { fieldOf, itemsAt, textAt } from "../recording/Fields.ts"
import type { Core, ToolDefinition } from "./inside.ts"
import type { FaultShown } from "./browser/Wire.ts"

/** The faults of model calls, in the order in which they happen. */
const modelFaults = {
  "server-error": "The model answers 503 once",
  connection: "The connection is lost once",
  "rate-limit": "429 once, which asks for 2 seconds",
  "broken-json": "Broken JSON in the arguments of a call",
  cut: "A streamed reply is cut in the middle"
} as const

type ModelFault = keyof typeof modelFaults

const all = "all"

/** With these a first run shows two failures that heal by themselves. */
const preset: ReadonlySet<string> = new Set<ModelFault>(["broken-json", "server-error"])

/** The name of the fault that lets a tool fail once with this tag. */
const nameOf = (tool: string, tag: string): string => `tool ${tool} ${tag}`

/** A tool, and the tags with which it may fail. */
export interface Failing {
  readonly tool: ToolDefinition
  readonly tags: ReadonlyArray<string>
}

/** All faults that a person may choose for an agent with these tools. */
export const faultsFor = (tools: ReadonlyArray<Failing>): ReadonlyArray<FaultShown> => [
  ...Object.entries(modelFaults).map(([name, title]) => ({ name, title, isPreset: preset.has(name) })),
  ...tools.flatMap(({ tags, tool }) =>
    tags.map((tag) => ({ name: nameOf(tool.name, tag), title: `${tool.name} fails once with ${tag}`, isPreset: false }))
  ),
  { name: all, title: "All of them, once each", isPreset: false }
]

/** The faults of one run that have not happened yet. */
export class Faults {
  readonly #due: Set<string>
  readonly #core: Core
  readonly #tools: ReadonlyArray<Failing>

  constructor(names: ReadonlyArray<string>, tools: ReadonlyArray<Failing>, core: Core) {
    const offered = faultsFor(tools).map(({ name }) => name)
    this.#due = new Set(names.includes(all) ? offered : names.filter((name) => offered.includes(name)))
    this.#core = core
    this.#tools = tools
  }

  /** Whether this fault is still to come. From now on it is not. */
  #take(fault: string): boolean {
    return this.#due.delete(fault)
  }

  /** The failure of the next send, if one is to fail. */
  #failure(model: string): LlmError.LlmError | undefined {
    const { NetworkError, RateLimitError, ServerError } = this.#core.LlmError
    if (this.#take("server-error")) return ServerError.make({ model, status: 503 })
    if (this.#take("connection")) return NetworkError.make({ host: "the model's server", model })
    if (this.#take("rate-limit")) {
      return RateLimitError.make({ service: model, model, retryAfter: Duration.seconds(2) })
    }
    return undefined
  }

  /** Breaks the arguments of the first call, as models break them: a fence around the JSON, and a comma too many. */
  #broken<A>(part: A | Message.ToolCall): A | Message.ToolCall {
    if (!isCall(part) || !this.#take("broken-json")) return part
    const written = typeof part.arguments === "string" ? part.arguments : JSON.stringify(part.arguments)
    const text = written.trim() === "{}" ? "{,}" : written.trim().replace(/\}$/, ",}")
    return { ...part, arguments: `\`\`\`json\n${text}\n\`\`\`` }
  }

  /** The model whose sends and replies break. */
  around(base: Model.Service): Model.Service {
    return {
      ...base,
      generate: (request) =>
        Effect.suspend(() => {
          const failure = this.#failure(base.name)
          if (failure !== undefined) return Effect.fail(failure)
          const reply = base.generate(request)
          return Effect.map(reply, (whole) => ({ ...whole, content: whole.content.map((part) => this.#broken(part)) }))
        }),
      stream: (request) =>
        Stream.suspend(() => {
          const failure = this.#failure(base.name)
          if (failure !== undefined) return Stream.fail(failure)
          const parts = Stream.map(base.stream(request), (part): Model.Part => this.#broken(part))
          return this.#take("cut") ? this.#cut(parts, base.name) : parts
        })
    }
  }

  #cut(parts: Stream.Stream<Model.Part, LlmError.LlmError>, model: string) {
    const broken = this.#core.LlmError.NetworkError.make({
      host: "the model's server",
      model,
      what: "The stream was cut"
    })
    const isLast = ({ type }: Model.Part) => type === "finish" || type === "tool-call"
    const before = Stream.takeUntil(parts, isLast)
    return Stream.concat(
      Stream.filter(before, (part) => !isLast(part)),
      Stream.fail(broken)
    )
  }

  /** The step of a tool, which may fail instead. */
  attempt(step: Interception.InterceptedStep, self: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> {
    if (step.type !== "tool attempt") return self
    const failing = this.#tools.find(({ tool }) => tool.name === step.tool)
    const tag = failing?.tags.find((one) => this.#take(nameOf(step.tool, one)))
    return failing === undefined || tag === undefined ? self : Effect.fail(failureOf(failing.tool, tag))
  }
}

const isCall = (part: unknown): part is Message.ToolCall =>
  typeof part === "object" && part !== null && "type" in part && part.type === "tool-call"

/** A failure of a tool with this tag: made of the tool's schema, or an error with no other field. */
export const failureOf = ({ failure, name }: ToolDefinition, tag: string): unknown => {
  const plain = Object.assign(new Error(`${tag}, injected into ${name}`), { _tag: tag, name: tag })
  if (failure === undefined) return plain
  const json = memberWith(tag, Result.getOrUndefined(Result.try(() => jsonSchemaOf(failure))))
  if (json === undefined) return plain
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(failure))
  return Result.getOrElse(decode(valueOf(json, randomOf(1), tag)), () => plain)
}

/** The JSON Schema of a codec, with its definitions. */
export const jsonSchemaOf = (schema: Schema.Codec<unknown, unknown>): unknown => {
  const { definitions, schema: root } = Schema.toJsonSchemaDocument(Schema.toCodecJson(schema))
  return { ...root, $defs: definitions }
}

/** The schema of the errors with this tag, among those of a union. */
const memberWith = (tag: string, schema: unknown): unknown => {
  const $defs = fieldOf(schema, "$defs")
  const ways = itemsAt(schema, "anyOf")
  const found = (ways.length === 0 ? [{ ...Object(schema), $defs: undefined }] : ways)
    .map((way) => {
      const target = textAt(way, "$ref")?.split("/").at(-1)
      return target === undefined ? way : fieldOf($defs, target)
    })
    .find((way) => tagsIn(way).includes(tag))
  return found === undefined ? undefined : { ...Object(found), $defs }
}
