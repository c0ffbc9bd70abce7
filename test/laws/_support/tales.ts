/**
 * Tales of runs that their readers come back to: attempts that break off and are discarded or go on, sub-agents, messages of the user,
 * conversations that are shortened, and suspensions, after which the run goes on in a new epoch.
 */
import {
  Agent,
  type AgentEvent,
  Approval,
  Compaction,
  type Message,
  Model,
  Recovery,
  Snapshot,
  Tool,
  Usage
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, type Scope, Stream } from "effect"
import fc from "fast-check"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { overADay } from "../../_support/dialogue.ts"

/** The letters of the attempts of a model call. All but the last break off. */
type Attempts = ReadonlyArray<number>

interface Turn {
  readonly attempts: Attempts
  /** What the reply calls; the sub-agent writes as well. */
  readonly calls: "look" | "ask" | "pay"
  readonly expert: Attempts
  /** Whether the user says something while the tool is at work. */
  readonly isSaid: boolean
}

export interface Tale {
  readonly turns: ReadonlyArray<Turn>
  readonly onPartial: "restart" | "continue"
  /** How many events the run keeps. */
  readonly kept: number
}

const attempts: fc.Arbitrary<Attempts> = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 })

export const tale: fc.Arbitrary<Tale> = fc.record({
  turns: fc.array(
    fc.record({ attempts, calls: fc.constantFrom("look", "ask", "pay"), expert: attempts, isSaid: fc.boolean() }),
    { maxLength: 3 }
  ),
  onPartial: fc.constantFrom("restart", "continue"),
  kept: fc.constantFrom(4096, 4096, 12)
})

/** A model that plays a tale, and then says "end". */
const modelOf = ({ turns }: Tale): Model.Service => {
  const texts = (all: Attempts, call: string | undefined) =>
    all.map((letters, index) => ({ letters, call, isWhole: index === all.length - 1 }))
  const steps = turns.flatMap(({ attempts, calls, expert }) => [
    ...texts(attempts, calls),
    ...(calls === "ask" ? texts(expert, undefined) : [])
  ])
  const next = steps.values()
  let calls = 0
  return {
    name: "m",
    provider: "p",
    contextWindow: 100,
    continuation: "rest",
    generate: () => Effect.die("it is streamed"),
    stream: () =>
      Stream.suspend(() => {
        const { call, isWhole, letters } = next.next().value ?? { letters: 4, call: undefined, isWhole: true }
        const text = "abcdefgh".slice(0, Math.max(letters, isWhole && call === undefined ? 1 : 0))
        const deltas = Array.from(text, (letter): Model.Part => ({ type: "text-delta", text: letter }))
        if (!isWhole) return Stream.fromIterable(deltas)
        const content = call === undefined ? [] : [ScriptedModel.call(call, {}, `c${++calls}`)]
        const usage = Usage.make({ inputTokens: 90, outputTokens: 5 })
        const end = toParts(ScriptedModel.reply({ content, finish: call === undefined ? "stop" : "tool-calls", usage }))
        return Stream.fromIterable<Model.Part>([...deltas, ...end])
      })
  }
}

/** One epoch of a run: until it is over, or suspended. */
export interface Epoch {
  readonly run: Agent.Run<unknown, unknown>
  readonly events: ReadonlyArray<AgentEvent.AgentEvent>
  readonly transcript: Message.Transcript
}

/** Plays a tale to its end, and gives each of its epochs. */
export const epochsOf = (tale: Tale): Effect.Effect<ReadonlyArray<Epoch>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { kept, onPartial, turns } = tale
    let run: Agent.Run<unknown, unknown> | undefined
    let called = 0
    const working = Effect.gen(function* () {
      yield* Effect.sleep(1)
      if (turns[called++]?.isSaid === true) yield* Effect.ignore(run?.say(`word ${called}`) ?? Effect.void)
      return "x".repeat(50)
    })
    const toolOf = <const Name extends string>(name: Name) =>
      Tool.make(name, { description: "d", parameters: Schema.Struct({}), success: Schema.String, run: () => working })
    const recovering = Agent.onLlmError({ orElse: Recovery.retry({ retries: 5, initialBackoff: 0 }) }, { onPartial })
    const ask = Agent.asTool(Agent.make("expert", {}).pipe(recovering), {
      name: "ask",
      description: "d",
      parameters: Schema.Struct({}),
      toInput: () => {
        called++
        return "why?"
      }
    })
    const agent = Agent.make("teller", {
      prompt: "Tell.",
      tools: [toolOf("look"), ask, toolOf("pay").pipe(Tool.requireApproval({ validFor: "30 days" }))],
      budget: { maxBufferedEvents: kept }
    }).pipe(recovering, Agent.compactAt({ with: Compaction.dropOldest({ keepLast: 1 }) }))
    const resumed = Agent.resume(agent)
    const model = modelOf(tale)
    const epochs: Array<Epoch> = []
    let from: Snapshot.Snapshot | undefined
    do {
      const decisions = (from === undefined ? [] : Snapshot.requestsOf(from)).map(({ digest }) => ({
        digest,
        decision: Approval.approve
      }))
      const starting = from === undefined ? agent.start("go") : resumed.start({ from, decisions })
      const started: Agent.Run<unknown, unknown> = yield* Effect.provideService(starting, Model.Model, model)
      run = started
      const outcome = yield* Effect.orDie(Effect.flatten(overADay(started.outcome)))
      from = outcome._tag === "Suspended" ? outcome.snapshot : undefined
      epochs.push({
        run: started,
        events: yield* Stream.runCollect(started.events),
        transcript: yield* started.transcript
      })
    } while (from !== undefined)
    return epochs
  })
