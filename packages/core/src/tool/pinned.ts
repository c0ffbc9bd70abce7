/**
 * Tools whose server may change them. A pin is the digest of a tool's definition. A run keeps the pins of the tools that it has offered. A
 * tool whose definition has changed since then is withheld, asked about or accepted. Only the modules of such tools import this file.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import type * as Message from "../data/Message.ts"
import { once } from "../data/Once.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Approving from "./approving.ts"
import type { ApprovalGate, Pin, Pins, ToolDefinition } from "./ToolDefinition.ts"
import { type AnyTool, fromDefinition } from "./shape.ts"

export { digestOf } from "../data/Digest.ts"

/**
 * What a run does with a tool whose definition has changed since the run offered it: withhold it, ask a person, or accept it. `same`: the
 * definition has not changed.
 */
type PinVerdict = "same" | "refuse" | "ask" | "accept"

/**
 * The definition of a tool as its server has it.
 *
 * @hidden
 */
export interface PinSource {
  /** Names the server and its tool. */
  readonly key: string
  /** The server, for people. */
  readonly server: string
  /** The digest of the definition that the tool was made of. */
  readonly digest: string
  /** The digest of the current definition, and the tool with that definition; `undefined` if the server no longer has the tool. */
  readonly now: Effect.Effect<{ readonly digest: string; readonly tool: () => ToolDefinition } | undefined>
  readonly verdict: (offered: string, now: string) => PinVerdict
  /** Both versions, for a person. */
  readonly change: (offered: string) => Approval.DefinitionChange
  /** Called when a person has approved the new definition: from then on it takes the place of the offered one. */
  readonly accept: (offered: string, now: string) => Effect.Effect<void>
}

/**
 * A tool whose server may change it. A run keeps the digest of the definition that it has offered. If the definition changes, the run
 * withholds the tool, asks a person or offers the new definition, as `source` says. For modules that connect to servers of tools, such as
 * `@kintsugi/interop/Mcp`.
 */
export const pinned = <T extends AnyTool>({ definition }: T, source: PinSource): T => {
  const { digest, key, server } = source
  return fromDefinition<T>({
    ...definition,
    pin: { key, digest, server, look: look(source), current: current(source), check: check(source), offer }
  })
}

/**
 * What a run finds when it looks at a tool: the digest of its current definition, and the verdict. A durable run stores this, so that each
 * replay reads the same.
 */
const looked = once(() =>
  // Mutant `{}` survives: only this module writes what it reads
  Schema.Struct({
    offered: Schema.String,
    now: Schema.NullOr(Schema.String),
    verdict: Schema.Literals(["same", "refuse", "ask", "accept"])
  })
)

type Looked = Schema.Schema.Type<ReturnType<typeof looked>>

const look = (source: PinSource) => (offered: string) =>
  Effect.map(source.now, (now): Looked =>
    now === undefined
      ? { offered, now: null, verdict: "refuse" }
      : { offered, now: now.digest, verdict: source.verdict(offered, now.digest) }
  )

/**
 * The tool with the definition of this digest, if its server still has that definition; otherwise the tool unchanged. Options that no
 * server defines stay.
 */
const current = (source: PinSource) => (self: ToolDefinition, digest: string) =>
  digest === source.digest
    ? Effect.succeed(self)
    : Effect.map(source.now, (now) => {
        if (now?.digest !== digest) return self
        const { coercion, decode, description, parameters, sideEffects, spec } = now.tool()
        return { ...self, coercion, decode, description, parameters, sideEffects, spec }
      })

const pinOf = (pins: Pins, { digest, key }: Pin): Pins extends Map<string, infer Held> ? Held : never =>
  pins.get(key) ?? { pinned: digest, shown: digest }

/** Looks at the tools at a safe point. It offers their current definitions, and emits what has changed since the last safe point. */
const offer: Pin["offer"] = (tools, pins, run, request) =>
  Effect.gen(function* () {
    const looking = Effect.forEach(tools, ({ pin }) => (pin as Pin).look(pinOf(pins, pin as Pin).pinned), {
      concurrency: "unbounded"
    })
    const found = yield* recorded(Schema.Array(looked()), looking)
    const offered = new Map<string, Message.ToolSpec | undefined>()
    for (const [index, tool] of tools.entries()) {
      const pin = tool.pin as Pin
      const { noted, shown } = pinOf(pins, pin)
      // `pinned` is what was recorded: in a replay, the tools of this process may differ from those with which the run began
      const { now, offered: pinned, verdict } = found[index] as Looked
      const isOffered = verdict !== "refuse" && now !== null
      const note = `${verdict} ${now}`
      pins.set(pin.key, {
        pinned: verdict === "accept" && now !== null ? now : pinned,
        shown: isOffered ? now : shown,
        noted: note
      })
      offered.set(tool.name, isOffered ? (yield* pin.current(tool, now)).spec() : undefined)
      // no event if a person has been asked about this definition since it was first offered: the request for approval shows it
      if (verdict === "same" || noted === note || (verdict === "ask" && now === pinned)) continue
      const after = now === null ? {} : { after: now }
      const { server } = pin
      yield* RunContext.emit(run, () => ({
        type: "tool-changed",
        tool: tool.name,
        server,
        action: verdict,
        before: pinned,
        ...after
      }))
    }
    const specs = request.tools.flatMap((spec) => (offered.has(spec.name) ? (offered.get(spec.name) ?? []) : spec))
    return { ...request, tools: specs }
  })

const recorded = <A>(schema: Schema.Codec<A, unknown>, self: Effect.Effect<A>) =>
  Interception.step(
    () => ({ type: "pins", schema }),
    () => self
  )

/** Checks a call before it runs. Returns why the call is denied, or the tool with the definition that the model has read. */
const check =
  (source: PinSource): Pin["check"] =>
  (self, site) =>
    Effect.gen(function* () {
      const { pinned, shown } = pinOf(site.pins ?? new Map(), self.pin as Pin)
      const { now, verdict } = yield* recorded(looked(), look(source)(pinned))
      if (now === null) return gone(self.name)
      if (verdict === "refuse") return changed(self.name, other)
      // a call that waits for a decision is not denied but asks again, because its request is about the old definition
      if (now !== shown && site.from?.type !== "decision") return changed(self.name, anew)
      const tool = yield* current(source)(self, now)
      const gate = verdict === "ask" ? consenting(tool, source, pinned, now) : tool.approval
      const still = (gate: ApprovalGate) => watched(gate, source, self.name, pinned, now)
      return {
        ...tool,
        pin: { ...(self.pin as Pin), digest: now },
        approval: gate === undefined ? undefined : still(gate)
      }
    })

/** A gate that asks a person about the changed definition and, in the same request, about the call if its tool needs approval. */
const consenting = (tool: ToolDefinition, source: PinSource, offered: string, now: string): ApprovalGate => {
  const { approval } = tool
  const change = source.change(offered)
  const what = change.before === undefined ? "has a new tool" : "has changed the definition of this tool"
  const reason = `The server '${source.server}' ${what}`
  const gate = Approving.gate({
    when: () => Effect.succeed(true),
    reason: approval === undefined ? reason : `${approval.reason}; ${reason}`,
    validFor: approval === undefined ? Duration.days(1) : approval.validFor,
    onExpiry: approval?.onExpiry ?? "ask-again",
    change
  })
  return {
    ...gate,
    pass: (call) =>
      Effect.tap(gate.pass(call), (passed) =>
        "decision" in passed && passed.decision.type === "approve" ? source.accept(offered, now) : Effect.void
      )
  }
}

/** Looks at the definition again after the decision, which may take days. If it has changed once more, the call is refused. */
const watched = (gate: ApprovalGate, source: PinSource, tool: string, offered: string, now: string): ApprovalGate => ({
  ...gate,
  pass: (call) =>
    Effect.flatMap(gate.pass(call), (passed) =>
      !("decision" in passed) || passed.decision.type !== "approve"
        ? Effect.succeed(passed)
        : Effect.map(recorded(looked(), look(source)(offered)), (seen) =>
            seen.now === now ? passed : { decision: Approval.refuse(changed(tool, anew)) }
          )
    )
})

const changed = (tool: string, next: string): string =>
  `Tool '${tool}' was not run: its server has changed what the tool is since it was offered. ${next}`

const gone = (tool: string): string => `Tool '${tool}' was not run: its server no longer has it. ${other}`

const other = "Try another way."

const anew = "Read its description, if you still have the tool, before you call it."
