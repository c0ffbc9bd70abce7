/** The law of attempts that break off while a reader follows their stream. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, LlmError, Message, type Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Schema } from "effect"
import fc from "fast-check"
import { eventLog, lastTranscript } from "../_support/dialogue.ts"
import { lawOfRuns } from "./_support/runs.ts"

/** An attempt that shows these pieces, then breaks off; each is marked, so that it is known wherever it turns up. */
interface Attempt {
  readonly pieces: ReadonlyArray<"text" | "thought" | "nothing">
  readonly breaks: "fails" | "is cut off"
}

interface Turn {
  readonly broken: ReadonlyArray<Attempt>
  /** Whether the answer behind them asks for the tool; the last turn's does not. */
  readonly pieces: number
}

interface Story {
  readonly turns: ReadonlyArray<Turn>
  readonly retries: number
  readonly onPartial: "restart" | "fail"
}

const attempt: fc.Arbitrary<Attempt> = fc.record({
  pieces: fc.array(fc.constantFrom("text", "text", "thought", "nothing"), { maxLength: 3 }),
  breaks: fc.constantFrom("fails", "is cut off")
})

const story: fc.Arbitrary<Story> = fc.record({
  turns: fc.array(fc.record({ broken: fc.array(attempt, { maxLength: 3 }), pieces: fc.integer({ min: 1, max: 3 }) }), {
    minLength: 1,
    maxLength: 3
  }),
  retries: fc.integer({ min: 0, max: 3 }),
  onPartial: fc.constantFrom("restart", "restart", "fail")
})

const overloaded = () => LlmError.ModelOverloadedError.make({ model: "scripted" })

const partsOf = ({ pieces }: Attempt, mark: string): ReadonlyArray<Model.Part> =>
  pieces.map((piece, index) =>
    piece === "thought"
      ? { type: "reasoning-delta", text: `<${mark} thought ${index}>` }
      : { type: "text-delta", text: piece === "nothing" ? "" : `<${mark} piece ${index}>` }
  )

const textOf = (attempt: Attempt, mark: string): string =>
  partsOf(attempt, mark)
    .map((part) => (part.type === "text-delta" ? part.text : ""))
    .join("")

const markOf = (turn: number, attempt: number): string => `broken ${turn}.${attempt}`

const answerOf = ({ pieces }: Turn, turn: number): string =>
  Array.from({ length: pieces }, (_, index) => `<answer ${turn} piece ${index}> `).join("")

/** Which attempts are made and discarded, and how many turns come to an answer, told without the library. */
const foretold = ({ onPartial, retries, turns }: Story, isStreamed: boolean) => {
  const discarded: Array<string> = []
  for (const [turn, { broken }] of turns.entries()) {
    for (const [index, attempt] of broken.entries()) {
      const text = textOf(attempt, markOf(turn, index))
      const isStuck = isStreamed && onPartial === "fail" && text !== ""
      if (index === retries || isStuck) return { discarded, reached: turn, made: index + 1 }
      if (isStreamed && attempt.pieces.length > 0) discarded.push(`${index + 1}: ${text}`)
    }
  }
  return { discarded, reached: turns.length, made: 0 }
}

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("seen")
})

lawOfRuns(
  "no text of a discarded attempt is in the result, and each has its event; the rest of the stream is the result [L1005]",
  story,
  Effect.fnUntraced(function* (story, run) {
    const { onPartial, retries, turns } = story
    const { discarded, made, reached } = foretold(story, run.isStreamed)
    // a run that ends early asks for no more
    const steps = turns.slice(0, reached + 1).flatMap((turn, n) => {
      const broken = turn.broken.slice(0, n === reached ? made : undefined).map((attempt, index) => {
        const parts = partsOf(attempt, markOf(n, index))
        return attempt.breaks === "fails" || !run.isStreamed
          ? ScriptedModel.fails(overloaded(), ...parts)
          : ScriptedModel.cutOff(...parts)
      })
      if (n === reached) return broken
      const content: Message.Reply["content"] = [Message.text(answerOf(turn, n))]
      const call = ScriptedModel.call("look", {}, `c${n}`)
      return [
        ...broken,
        ScriptedModel.replies(ScriptedModel.reply({ content: n < turns.length - 1 ? [...content, call] : content }))
      ]
    })
    const model = yield* ScriptedModel.make(...steps)
    const log = eventLog()
    const skills = [Skill.make("look", { description: "Looks.", tools: [look] })] as const
    const agent = Agent.make("worker", { skills }).pipe(
      Agent.onLlmError({ orElse: Recovery.retry({ retries }) }, { onPartial }),
      log.listen
    )
    const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))

    assert.deepStrictEqual(
      log.of("attempt-discarded").map(({ attempt, text }) => `${attempt}: ${text}`),
      discarded
    )
    const end = log.end()
    const transcript = end?.type === "run-completed" ? (model.requests.at(-1)?.messages ?? []) : lastTranscript(end)
    // what was shown last and not discarded stays, as no answer
    const whole = transcript.filter((message) => message.role !== "assistant" || message.incomplete !== true)
    assert.notInclude(JSON.stringify(whole), "broken")
    for (const { messages } of model.requests) assert.notInclude(JSON.stringify(messages), "broken")
    assert.strictEqual(Exit.isSuccess(exit), reached === turns.length)
    if (Exit.isSuccess(exit)) {
      const answer = turns.length - 1
      assert.strictEqual(exit.value, answerOf(turns[answer] ?? { broken: [], pieces: 0 }, answer))
    } else assert.isTrue(LlmError.isLlmError(Cause.squash(exit.cause)))
    const replies = log.all.filter((event) => event.type === "model-end").map(({ reply }) => Message.textOf(reply))
    assert.deepStrictEqual(replies, turns.slice(0, reached).map(answerOf))
    if (run.isStreamed && Exit.isSuccess(exit)) assert.deepStrictEqual(readAlong(log.all), replies)
  })
)

/** What a reader of the stream has of each turn's text, who forgets what is discarded. */
const readAlong = (events: ReadonlyArray<AgentEvent.AgentEvent>): ReadonlyArray<string> => {
  const texts: Array<string> = []
  for (const event of events) {
    if (event.type === "turn-start") texts.push("")
    if (event.type === "text-delta") texts.push(`${texts.pop() ?? ""}${event.text}`)
    if (event.type === "attempt-discarded") texts.push((texts.pop() ?? "").slice(0, -event.text.length || undefined))
  }
  return texts
}
