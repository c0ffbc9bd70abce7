/** Turns the raw arguments of a call into the parameters of its tool. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Coercion from "../coercion/Coercion.ts"
import { freeze } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import type * as RunContext from "../event/RunContext.ts"
import { DeserializationError, InvalidArgs } from "../errors/ToolError.ts"
import { issuesOf } from "../coercion/Issues.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"
import type { Later } from "./reading.ts"

type Changes = Parameters<typeof Coercion.decode>[0]["changes"]

/**
 * Decoded arguments. Policies, predicates, approvers and all attempts must see the same parameters, so plain objects and arrays are frozen:
 * that is cheaper than decoding for each reader, and a reader that writes gets an error. Parameters with other values, such as class
 * instances, are decoded again for each reader, if the schema decodes at once.
 */
export class Decoded {
  /** The JSON from which the parameters were decoded. */
  readonly json: Schema.Json
  readonly changes: Changes
  readonly #tool: ToolDefinition
  readonly #params: unknown
  /** Whether the next reader may get `#params`: they are frozen, or no reader has got them yet. */
  #isShareable = true
  readonly #isFrozen: boolean

  constructor(tool: ToolDefinition, params: unknown, json: Schema.Json, changes: Changes) {
    this.json = json
    this.changes = changes
    this.#tool = tool
    this.#params = params
    freeze(json)
    this.#isFrozen = freeze(params)
  }

  /** The parameters, for one reader. Throws a `TypeError` if the schema refuses arguments now that it accepted before. */
  params(): unknown {
    if (this.#isShareable) {
      this.#isShareable = this.#isFrozen
      return this.#params
    }
    const read = this.#tool.decode(this.json)
    // the schema would have to wait and a reader cannot, so all readers share the first parameters
    if (!Result.isResult(read)) return this.#params
    const fresh = Result.getOrThrowWith(
      read,
      () =>
        new TypeError(
          `Tool '${this.#tool.name}': the parameter schema decoded these arguments once and refused them the second time`
        )
    )
    freeze(fresh)
    return fresh
  }
}

/** The decoded arguments, or the error that says why they are invalid. */
export type Read = Result.Result<Decoded, InvalidArgs | DeserializationError>

/**
 * Decodes the arguments of a call, and goes on with `next`. Absent and blank arguments mean `{}`, an object is used as it is, and text is
 * parsed. Arguments that do not fit are coerced. `next` is called at once if the schema of the tool decodes at once.
 */
export const decode = <A, E>(
  tool: ToolDefinition,
  call: Message.ToolCall,
  next: (read: Read) => Effect.Effect<A, E>
): Effect.Effect<A, E> => {
  const read = tryToDecode(tool, call)
  return read instanceof Blocked ? Effect.flatMap(decodeLater(tool, call, read), next) : next(read)
}

/** Decodes the arguments of a call without waiting. `undefined` if the schema of the tool has to wait or needs services. */
export const decodeNow = (tool: ToolDefinition, call: Message.ToolCall): Read | undefined => {
  const read = tryToDecode(tool, call)
  return read instanceof Blocked ? undefined : read
}

/** Thrown when a step of the decoding has to wait: the number of steps before it, and the effect to wait for. */
class Blocked {
  readonly step: number
  readonly later: Later
  constructor(step: number, later: Later) {
    this.step = step
    this.later = later
  }
}

type Answers = ReadonlyMap<number, Effect.Success<Later>>

const noAnswers: Answers = new Map()

/**
 * Decodes arguments whose schema has to wait: waits for a step, keeps its answer, and decodes again from the start. The steps are the same
 * each time, so a step finds its answer by its number.
 */
const decodeLater = (tool: ToolDefinition, call: Message.ToolCall, first: Blocked): Effect.Effect<Read> =>
  Effect.gen(function* () {
    const answers = new Map<number, Effect.Success<Later>>()
    let read: Read | Blocked = first
    while (read instanceof Blocked) {
      answers.set(read.step, yield* Effect.catchDefect(read.later, (defect) => Effect.die(broken(tool, defect))))
      read = tryToDecode(tool, call, answers)
    }
    return read
  })

const tryToDecode = (tool: ToolDefinition, call: Message.ToolCall, answers = noAnswers): Read | Blocked => {
  const parsed = parse(tool, call.arguments)
  if (Result.isFailure(parsed)) {
    return Result.fail(
      InvalidArgs.make({
        tool: tool.name,
        callId: call.id,
        rawArgs: rawText(call.arguments),
        parseError: parsed.failure
      })
    )
  }
  let step = 0
  const decodeValue = (value: Schema.Json): Effect.Success<Later> => {
    const now = answers.get(step) ?? tool.decode(value)
    if (!Result.isResult(now)) throw new Blocked(step, now)
    // Mutant `step--` survives: each step has its own number, too
    step++
    return now
  }
  try {
    const decoded = Coercion.decode(parsed.success, decodeValue, tool.coercion)
    if (Result.isSuccess(decoded)) {
      const { changes, decoded: params, value: json } = decoded.success
      return Result.succeed(new Decoded(tool, params, json, changes))
    }
    // the issues are about the arguments that the model sent, not about half-repaired ones
    const { value } = parsed.success
    const issues = issuesOf(decoded.failure, value, tool.coercion)
    return Result.fail(
      DeserializationError.make({
        tool: tool.name,
        callId: call.id,
        rawValue: value,
        targetType: tool.targetType,
        issues
      })
    )
  } catch (thrown) {
    if (thrown instanceof Blocked) return thrown
    throw broken(tool, thrown)
  }
}

const broken = ({ name }: ToolDefinition, cause: unknown): TypeError =>
  new TypeError(`The schema of the parameters of tool '${name}' did not decode, it threw`, { cause })

/**
 * The arguments of a call in a form that is equal for equal calls. JSON text and a JSON value are the same; text that is not JSON stays
 * text. Numbers count by their value. If the tool may get a number as text, the form also has the digits that the model wrote.
 */
export const written = (tool: ToolDefinition | undefined, call: Message.ToolCall): Written =>
  writtenWith(call, () => {
    const read = tool === undefined ? undefined : decodeNow(tool, call)
    const changes = read && (Result.isSuccess(read) ? read.success.changes : [])
    return changes?.flatMap(({ after, step }) => (step === "convert-number" ? [after] : []))
  })

type Written = readonly [kind: "json" | "text", args: Schema.Json, ...spelled: ReadonlyArray<Schema.Json>]

/** The same, if `numbersOf` returns the numbers that the tool gets as texts; `undefined` if that is not known. */
export const writtenWith = (call: Message.ToolCall, numbersOf: () => ReadonlyArray<unknown> | undefined): Written => {
  const args = call.arguments
  if (!Predicate.isString(args)) return ["json", args]
  // JSON.parse returns nothing but JSON
  const parsed = Result.try(() => JSON.parse(args) as Schema.Json)
  if (Result.isFailure(parsed)) return ["text", args]
  if (!isUnusual.test(args)) return ["json", parsed.success]
  const spelled = Coercion.spelled(args, numbersOf)
  return spelled === undefined ? ["json", parsed.success] : ["json", parsed.success, spelled]
}

/** Whether JSON may have a number that JavaScript would write differently. The test only saves time. */
const isUnusual = /\d{16}|\d[.eE]|-0/

/** The arguments as text: what the model wrote, or the JSON of what it sent as an object. */
export const rawText = (raw: Message.ToolCall["arguments"]): string =>
  Predicate.isString(raw) ? raw : raw === null ? "" : JSON.stringify(raw)

const parse = (tool: ToolDefinition, raw: Message.ToolCall["arguments"]) => {
  const isEmpty = Predicate.isString(raw) && raw.trim() === ""
  const parsed = Coercion.parse(isEmpty ? {} : raw, tool.coercion)
  return Result.isSuccess(parsed) && parsed.success.value === null ? Coercion.parse({}) : parsed
}

/** Whether a failure is about the arguments themselves, so that the tool has not run. */
export const isArgumentError = (error: unknown): error is InvalidArgs | DeserializationError =>
  error instanceof InvalidArgs || error instanceof DeserializationError

/** The names of the agent of a run and of the agents around it, the nearest first. */
export const agentsOf = ({ agent, done }: RunContext.RunContext): ReadonlyArray<string> => {
  const names = [agent]
  for (let one = done.parent; one !== undefined; one = one.parent) names.push(one.agent)
  return names
}
