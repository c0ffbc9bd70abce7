/** Decodes the events of a streamed response. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Model from "@kintsugi/core/Model"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Decoder } from "../../transport/Decoder.ts"
import * as Json from "../../transport/Json.ts"
import * as Size from "../../transport/Size.ts"
import * as Calls from "../openAiCalls.ts"
import * as Jobs from "./jobs.ts"
import { Least } from "./least.ts"
import * as ResponsesError from "./error.ts"
import * as ResponsesReply from "./reply.ts"
import { usageOf } from "./usage.ts"
import { hasText, type ProviderCalls, waitingIn } from "./waiting.ts"

type Step = Result.Result<ReadonlyArray<Model.Part>, LlmError>

/** An item of a stream that is not finished yet. */
interface UnfinishedItem {
  /** The item as its first event announced it. */
  announced: Schema.Json
  /** The item as its last event has it; `undefined` before that event. */
  final: Schema.Json | undefined
  /** The text of the message or of the reasoning so far. */
  text: string
  /** The index of the current content part of a message. `from` is where its text begins in `text`. */
  part: number
  from: number
  arguments: string
  /** The bytes of the data that was not emitted yet, apart from `waiting`. */
  size: number
  /** The log probabilities of a message so far. */
  readonly logprobs: Array<Schema.Json>
  /** Which text of a reasoning item the current pieces belong to. */
  channel: string | undefined
  /** The parts of this item that wait until earlier items are finished. */
  waiting: Array<Model.Part>
}

/**
 * Decodes the events of a streamed response. Items usually arrive one after the other. If they interleave, each waits for the earlier ones.
 */
export class ResponsesDecoder implements Decoder<Model.Part> {
  readonly whole = lastEvents
  readonly #source: Source
  readonly #answer: Answer
  readonly #unfinished = new Map<number, UnfinishedItem>()
  /** The indexes of all unfinished items, of which the least is emitted first. */
  readonly #least = new Least()
  /** The finished items by their index. */
  readonly #closed = new Map<number, Schema.Json>()
  /** The index of each item by the item's id. */
  readonly #indexes = new Map<string, number>()
  readonly #ids = new Calls.Ids()
  #state: "open" | "done" = "open"
  /** The highest index so far. */
  #last = -1
  #hasReasoned = false
  /** The bytes of all unfinished items. */
  #held = 0
  #refusal: string | undefined
  /** The pieces of a refusal, for streams in which no event has the whole refusal. */
  #refusing = ""
  #model: string | undefined

  readonly #providerCalls: ProviderCalls

  /** Whether the decoder reads a job. The events of a job name the job too, which must not pause the reply again. */
  readonly #isJob: boolean

  constructor(source: Source, answer: Answer, providerCalls?: ProviderCalls, isJob = false) {
    this.#isJob = isJob
    this.#providerCalls = providerCalls
    this.#source = source
    this.#answer = answer
  }

  state() {
    return this.#state
  }

  held() {
    return this.#held + this.#refusing.length
  }

  model() {
    return this.#model
  }

  push(data: string): Step {
    const event = Json.parse(data)
    // Some servers send `[DONE]` as in chat completions. It does not end this stream.
    if (Result.isFailure(event)) {
      return data.trim() === "[DONE]" ? Result.succeed([]) : this.#undecodable(event.failure)
    }
    if (!Predicate.isObject(event.success)) return this.#undecodable(new Error("an event is not an object"))
    const step = this.#read(event.success)
    // an event with a response says how the job has ended, so its error is that of the job
    const isEnd = this.#isJob && Json.field(event.success, "response") !== undefined
    return isEnd ? Result.mapError(step, Jobs.over) : step
  }

  end(): Step {
    return this.#state === "done" ? Result.succeed([]) : this.#undecodable(new Error("the stream holds no reply"))
  }

  #read(event: Schema.Json): Step {
    const type = Json.text(Json.field(event, "type"))
    switch (type) {
      case "response.output_text.delta":
        return this.#grow(event, "text")
      case "response.output_text.done":
        return this.#grow(event, "text", true)
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
        return this.#grow(event, "reasoning")
      case "response.function_call_arguments.delta":
      case "response.function_call_arguments.done": {
        const item = this.#itemOf(event)
        if (item !== undefined) {
          const whole = Json.text(Json.field(event, "arguments"))
          const piece = whole === undefined ? deltaOf(event) : beyond(whole, item.arguments)
          item.arguments = whole ?? item.arguments + piece
          this.#hold(item, Size.ofText(piece))
        }
        return Result.succeed([])
      }
      case "response.output_item.added":
      case "response.output_item.done": {
        const given = Json.field(event, "item") ?? null
        const item = this.#itemOf(event, Json.text(Json.field(given, "id")))
        if (item === undefined) return Result.succeed([])
        item.announced = given
        if (type === "response.output_item.done") item.final = given
        this.#hold(item, Size.ofParts(this.#restOf(item, given, 0, new Calls.Ids())) - item.size)
        return Result.succeed(this.#drain())
      }
      case "response.refusal.delta":
        this.#refusing += deltaOf(event)
        return Result.succeed([])
      case "response.refusal.done":
        this.#refusal = Json.text(Json.field(event, "refusal"))
        return Result.succeed([])
      default: {
        const error = ResponsesError.inside(this.#source, this.#answer, event)
        if (error !== undefined) return Result.fail(error)
        const response = Json.object(Json.field(event, "response"))
        this.#model = Json.text(Json.field(response, "model")) ?? this.#model
        const job = this.#isJob ? undefined : Jobs.jobIn(this.#source, response, event)
        if (job !== undefined) {
          this.#state = "done"
          return Result.succeed([job, { type: "finish", ...Jobs.endOf(response) }])
        }
        // Mutant `""` for `"completed"` survives: the code asks of an ended response only whether its status is
        // `incomplete`
        if (type === "response.completed") return this.#finish({ ...response, status: "completed" })
        if (type === "response.incomplete") return this.#finish({ ...response, status: "incomplete" })
        return Result.succeed([])
      }
    }
  }

  /** Appends a piece of text. If the event has a whole text, only the rest beyond the earlier pieces is appended. */
  #grow(event: Schema.Json, kind: "text" | "reasoning", isWhole = false): Step {
    const item = this.#itemOf(event)
    if (item === undefined) return Result.succeed([])
    if (kind === "reasoning") this.#enter(item, channelOf(event))
    else {
      const part = Json.count(Json.field(event, "content_index")) ?? item.part
      if (part !== item.part) item.from = item.text.length
      item.part = part
      if (!isWhole) this.#weigh(item, Json.items(Json.field(event, "logprobs")))
    }
    const whole = isWhole ? (Json.text(Json.field(event, "text")) ?? "") : undefined
    const text = whole === undefined ? deltaOf(event) : beyond(whole, item.text.slice(item.from))
    if (text === "") return Result.succeed([])
    item.text += text
    const part: Model.Part = { type: kind === "text" ? "text-delta" : "reasoning-delta", text }
    // In the usual case there are no earlier items to wait for.
    if (this.#unfinished.size === 1 && item.waiting.length === 0) return Result.succeed([part])
    this.#wait(item, part)
    return Result.succeed(this.#drain())
  }

  #weigh(item: UnfinishedItem, logprobs: ReadonlyArray<Schema.Json>): void {
    for (const one of logprobs) {
      item.logprobs.push(one)
      this.#hold(item, Size.ofJson(one))
    }
  }

  #hold(item: UnfinishedItem, bytes: number): void {
    item.size += bytes
    this.#held += bytes
  }

  #wait(item: UnfinishedItem, part: Model.Part): void {
    item.waiting.push(part)
    this.#held += Size.ofPart(part)
  }

  /** Begins another text of a reasoning item, and closes the text before it. */
  #enter(item: UnfinishedItem, channel: string): void {
    if (item.text !== "" && channel !== item.channel) {
      this.#wait(item, { type: "reasoning-delta", text: "", opaque: ResponsesReply.closed(this.#source.provider) })
    }
    item.channel = channel
  }

  /** Reads the last event, which holds the whole response, and emits everything that was not streamed. */
  #finish(response: Schema.Json): Step {
    const usage = usageOf(response)
    const refusal = ResponsesError.refused(this.#source, this.#answer, { usage }, this.#refusal ?? this.#refusing)
    if (refusal !== undefined) return Result.fail(refusal)
    this.#state = "done"
    for (const [index, item] of Json.items(Json.field(response, "output")).entries()) {
      const unfinished = this.#itemAt(this.#indexIn(item, index))
      if (unfinished !== undefined) unfinished.final ??= item
    }
    for (const unfinished of this.#unfinished.values()) unfinished.final ??= assembled(unfinished)
    const parts = this.#drain()
    const items = [...this.#closed].toSorted(([one], [other]) => one - other).map(([, item]) => item)
    const kind = waitingIn(this.#source, items, this.#providerCalls)
    if (kind !== undefined) return Result.fail(Classify.unanswerable(this.#source, this.#answer, kind, usage))
    return Result.succeed([
      ...parts,
      { type: "finish", ...ResponsesReply.endOf(this.#answer, response, items, this.#providerCalls) }
    ])
  }

  /**
   * The index under which an item of the whole response was streamed. If the server counted differently in the stream, the id of the item
   * finds it.
   */
  #indexIn(item: Schema.Json, index: number): number {
    if (this.#closed.has(index) || this.#unfinished.has(index)) return index
    return this.#indexes.get(Json.text(Json.field(item, "id")) ?? "") ?? index
  }

  /** Takes the parts that no longer wait for an earlier item. */
  #drain(): ReadonlyArray<Model.Part> {
    const parts: Array<Model.Part> = []
    for (;;) {
      // Mutant `+1` survives: without a least index there is no unfinished item, under any index
      const index = this.#least.first ?? -1
      const item = this.#unfinished.get(index)
      if (item === undefined) return parts
      for (const part of item.waiting) this.#held -= Size.ofPart(part)
      parts.push(...item.waiting)
      item.waiting = []
      if (item.final === undefined) return parts
      parts.push(...this.#restOf(item, item.final, index))
      this.#hasReasoned ||= Json.field(item.final, "type") === "reasoning"
      this.#least.removeFirst()
      this.#unfinished.delete(index)
      this.#held -= item.size
      this.#closed.set(index, withText(item.final, item.text))
    }
  }

  /** The parts of an item that its streamed text does not contain. */
  #restOf(
    { logprobs, text }: UnfinishedItem,
    final: Schema.Json,
    index: number,
    ids = this.#ids
  ): ReadonlyArray<Model.Part> {
    const content = ResponsesReply.contentOf(
      this.#source,
      withLogprobs(final, logprobs),
      index,
      this.#hasReasoned,
      ids,
      this.#providerCalls
    )
    const last = content.at(-1)
    if (last?.type === "reasoning" && text !== "") {
      // Mutant `"Stryker was here!"` #1 survives: never reached. Where the last part of an item is reasoning, all its
      // parts are: the condition is for the types
      const whole = content.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
      return [{ ...last, type: "reasoning-delta", text: beyond(whole, text) }]
    }
    return content.flatMap((part): ReadonlyArray<Model.Part> => {
      if (part.type === "reasoning") return [{ ...part, type: "reasoning-delta" }]
      if (part.type !== "text") return [part]
      const rest = beyond(part.text, text)
      return rest === "" ? [] : [{ type: "text-delta", text: rest }]
    })
  }

  /** The unfinished item to which an event belongs; `undefined` if that item is finished. */
  #itemOf(event: Schema.Json, id = Json.text(Json.field(event, "item_id"))): UnfinishedItem | undefined {
    const statedIndex = Json.count(Json.field(event, "output_index"))
    const impliedIndex = id === undefined ? Math.max(this.#last, 0) : (this.#indexes.get(id) ?? this.#last + 1)
    const index = statedIndex ?? impliedIndex
    // Mutant `true` survives: no item is looked up by the absence of an id
    if (id !== undefined) this.#indexes.set(id, index)
    return this.#itemAt(index)
  }

  #itemAt(index: number): UnfinishedItem | undefined {
    if (this.#closed.has(index)) return undefined
    const existing = this.#unfinished.get(index)
    if (existing !== undefined) return existing
    const item: UnfinishedItem = {
      announced: null,
      final: undefined,
      text: "",
      part: 0,
      from: 0,
      arguments: "",
      size: 0,
      logprobs: [],
      channel: undefined,
      waiting: []
    }
    this.#unfinished.set(index, item)
    this.#least.add(index)
    this.#last = Math.max(this.#last, index)
    return item
  }

  #undecodable(cause: unknown): Step {
    return Result.fail(Classify.undecodable(this.#source, this.#answer, cause))
  }
}

/** The names of the events that end a stream and hold the whole response. */
const lastEvents: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"])

const deltaOf = (event: Schema.Json): string => Json.text(Json.field(event, "delta")) ?? ""

const channelOf = (event: Schema.Json): string => {
  const summary = Json.count(Json.field(event, "summary_index"))
  return summary === undefined ? `content ${Json.count(Json.field(event, "content_index"))}` : `summary ${summary}`
}

/** The rest of a text after a known beginning; empty if the text begins differently. */
const beyond = (whole: string, begun: string): string => (whole.startsWith(begun) ? whole.slice(begun.length) : "")

/** Adds the streamed log probabilities to a message that repeats none itself. */
const withLogprobs = (item: Schema.Json, logprobs: ReadonlyArray<Schema.Json>): Schema.Json => {
  const parts = Json.items(Json.field(item, "content"))
  if (logprobs.length === 0 || parts.some((part) => Json.items(Json.field(part, "logprobs")).length > 0)) return item
  return { ...Json.object(item), content: [...parts, { type: "output_text", text: "", logprobs }] }
}

/** Adds the streamed text to a message that repeats none itself. */
const withText = (item: Schema.Json, text: string): Schema.Json =>
  text === "" || hasText(item) || (Json.text(Json.field(item, "type")) ?? "message") !== "message"
    ? item
    : { ...Json.object(item), type: "message", content: [{ type: "output_text", text }] }

/** Makes an item that had no last event from its pieces so far. */
const assembled = ({ announced, arguments: args }: UnfinishedItem): Schema.Json =>
  args === "" ? announced : { ...Json.object(announced), arguments: args }
