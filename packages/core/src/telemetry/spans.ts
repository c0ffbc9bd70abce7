/**
 * Spans of runs, model calls and tool calls, by the GenAI conventions of OpenTelemetry. Attributes of this library begin with `kintsugi.`.
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Tracer from "effect/Tracer"
import * as ErrorCause from "../data/ErrorCause.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as Attributes from "./attributes.ts"
import * as Content from "./content.ts"
import type { Beginning, Ending, Watcher } from "./Operations.ts"

/** Makes a span for each operation. With `hasContent`, spans also contain texts and arguments. */
export const watcher = (hasContent: boolean): Watcher<Operation> => ({
  begin: (event, context, now) => new Operation(event, context, now, hasContent),
  within: (operation, event, now) => operation.note(event, now),
  end: (operation, ending) => operation.end(ending)
})

/** An operation with its span. */
class Operation {
  readonly span: Tracer.Span
  readonly #began: bigint
  readonly #hasContent: boolean
  #isStreamed = false

  /** Makes the span with the tracer, the parent and the annotations of `context`, like any span of the program. */
  constructor(event: Beginning, context: Context.Context<never>, now: bigint, hasContent: boolean) {
    const { kind, name } = titleOf(event)
    const attributes = Attributes.of(Attributes.ofOperation, event)
    this.span = made(Effect.makeSpan(name, { kind, attributes }), context)
    this.#began = now
    this.#hasContent = hasContent
    if (hasContent) this.#set(Attributes.of(Content.ofOperation, event))
  }

  note(event: AgentEvent.AgentEvent, now: bigint): void {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        if (this.#isStreamed) return
        this.#isStreamed = true
        return this.#set({
          "gen_ai.request.stream": true,
          "gen_ai.response.time_to_first_chunk": Number(now - this.#began) / 1e9
        })
      case "skill-chosen":
        this.#set({ "kintsugi.skill": event.skill })
        break
      case "request-adapted":
        this.#set({ "kintsugi.adapted": event.changes.map(({ option }) => option) })
    }
    const attributes = Attributes.of(Attributes.ofNote, event)
    if (attributes !== undefined) this.span.event(`kintsugi.${event.type}`, now, attributes)
  }

  end(ending: Ending): void {
    const { at, event, how } = ending
    if (event !== undefined) this.#set(Attributes.of(Attributes.ofOperation, event))
    this.#set({ "kintsugi.outcome": how })
    if (this.#hasContent && event !== undefined) this.#set(Attributes.of(Content.ofOperation, event))
    if (how !== "failed") return this.span.end(at, how === "interrupted" ? Exit.interrupt() : Exit.void)
    this.#set(Attributes.ofError(ending))
    const report = this.#hasContent ? ErrorCause.summarise(ending.error) : Attributes.reportOf(ending)
    this.span.end(at, ending.isDefect === true ? Exit.die(report) : Exit.failCause(Cause.fail(report)))
  }

  #set(attributes: Attributes.Attributes = {}): void {
    for (const key of Object.keys(attributes)) this.span.attribute(key, attributes[key])
  }
}

/**
 * Runs an effect that finishes without a wait. Faster than `Effect.runSync`, which adds a scheduler and so makes each fiber read its
 * services again.
 */
const made = <A>(effect: Effect.Effect<A>, context: Context.Context<never>): A => {
  const exit = Effect.runForkWith(context)(effect).pollUnsafe()
  if (exit === undefined) throw new TypeError("Telemetry: a tracer makes a span at once")
  // Mutant `false` survives: without a span each later use of it throws, and what throws here does not reach the run
  if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  return exit.value
}

const titleOf = (event: Beginning): { readonly name: string; readonly kind: Tracer.SpanKind } => {
  switch (event.type) {
    case "run-start":
      return { name: `invoke_agent ${event.agent}`, kind: "internal" }
    case "model-start":
      return { name: `chat ${event.model}`, kind: "client" }
    case "tool-start":
      return { name: `execute_tool ${event.tool}`, kind: "internal" }
  }
}
