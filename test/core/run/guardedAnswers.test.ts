/** Guardrails of the output: no reader sees an answer that has not passed, or one that was blocked. */
import { assert } from "@effect/vitest"
import { Agent, Budget, Message, Recovery, RunError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Stream } from "effect"
import { describe } from "vitest"
import { scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { inPieces, kept, type Readable, reading, secret } from "./_support/guarded.ts"
import { eventsOf, started } from "./_support/saying.ts"

const { call, calls, make, replies, reply, text } = ScriptedModel
const { block, pass } = Agent.guard

/** Blocks a text with the secret. */
const unlessSecret = ({ reasoning, text }: Agent.Checked) =>
  (text + reasoning).includes(secret) ? block("it has the password") : pass

const blockedBy = ({ exit }: Pick<Readable, "exit">): string => {
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error instanceof RunError.GuardrailError ? `${error.side}, ${error.guard}: ${error.reason}` : String(error)
}

const blocked = "output, unlessSecret: it has the password"

const clerk = Agent.make("clerk", {})

const guarded = clerk.pipe(Agent.guardOutput(unlessSecret))

it.run(
  "a blocked answer is in no output, error, event or span, and in nothing that a client gets [P1378 P1597]",
  (run) =>
    Effect.gen(function* () {
      const thinking = reply({ content: [{ type: "reasoning", text: `It is ${secret}` }, Message.text("I know it")] })
      for (const said of [reply({ content: [Message.text(`It is ${secret}`)] }), thinking]) {
        for (const hold of ["all", 3, 1000] as const) {
          const agent = clerk.pipe(Agent.guardOutput(unlessSecret, { hold }))
          const seen = yield* reading(run(agent, "hi"), inPieces(said))
          assert.strictEqual(blockedBy(seen), blocked)
          assert.notInclude(seen.text, secret)
          assert.strictEqual(kept(seen.events), "")
          assert.deepInclude(
            seen.events.find(({ type }) => type === "turn-end"),
            {
              message: { role: "assistant", content: [Message.text("This answer was withheld.")], withheld: true }
            }
          )
          const entries = seen.events.flatMap((event) => ("entry" in event ? event.entry : []))
          assert.deepStrictEqual(
            entries.map(({ outcome, usage }) => [outcome, usage.outputTokens]),
            [["used", 5]]
          )
        }
      }
    })
)

it.effect(
  "the transcript of the run keeps it, marked as withheld, and the transcript of the error has its mark [P1597]",
  () =>
    Effect.gen(function* () {
      const model = yield* make(text(`It is ${secret}`))
      const run = yield* started(guarded.start("hi"), model)
      const error = yield* Effect.flip(run.outcome)
      const withheld: Message.Assistant = { ...Message.assistant(`It is ${secret}`), withheld: true }
      assert.deepStrictEqual(yield* run.transcript, [Message.user("hi"), withheld])
      assert(error._tag === "GuardrailError")
      assert.deepStrictEqual(
        error.transcript.map((message) => "withheld" in message),
        [false, true]
      )
      assert.notInclude(JSON.stringify([error, yield* eventsOf(run)]), secret)
    })
)

it.run("an answer that passes is shown after the check, thoughts and all [P1597]", (run) =>
  Effect.gen(function* () {
    const said = reply({ content: [{ type: "reasoning", text: "hm" }, Message.text("All is well")] })
    const slow = () => Effect.delay(Effect.succeed(pass), 40)
    const seen = yield* reading(run(clerk.pipe(Agent.guardOutput(slow)), "hi"), inPieces(said))
    assert.deepStrictEqual(seen.exit, Exit.succeed("All is well"))
    if (!run.isStreamed) return
    assert.strictEqual(kept(seen.events), "hmAll is well")
    const at = seen.instants.filter((_, index) => /delta/.test(seen.events[index]?.type ?? ""))
    assert.deepStrictEqual([...new Set(at)], [45])
  })
)

it.effect("a number shows all but so many characters of what has passed, and never what has not [P1597]", () =>
  Effect.gen(function* () {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ")
    for (const hold of [1, 10, 64]) {
      const checked: Array<string> = []
      const agent = clerk.pipe(
        Agent.guardOutput(
          ({ isWhole, text }) => {
            checked.push(text)
            assert.strictEqual(isWhole, text === words)
            return pass
          },
          { hold }
        )
      )
      let shown = ""
      const watching = agent.stream("hi").pipe(
        Stream.runForEach((event) =>
          Effect.sync(() => {
            if (event.type !== "text-delta") return
            shown += event.text
            const passed = checked.at(-1) ?? ""
            assert.isTrue(passed.startsWith(shown))
            if (passed !== words) assert.isAtMost(shown.length, passed.length - hold)
          })
        )
      )
      const seen = yield* reading(watching, inPieces(reply({ content: [Message.text(words)] })))
      assert.isTrue(Exit.isSuccess(seen.exit))
      assert.strictEqual(shown, words)
      // some of it is shown before the end, and the checks together read the text a few times only
      assert.isAbove(checked.length, 2)
      assert.isBelow(checked.join("").length, words.length * 20)
    }
  })
)

it.effect("what a reader has seen of an answer that is blocked later is taken back [P1597]", () =>
  Effect.gen(function* () {
    const said = reply({ content: [Message.text(`This is all fine so far, but it is ${secret} after all`)] })
    const agent = clerk.pipe(Agent.guardOutput(unlessSecret, { hold: 8 }))
    const seen = yield* reading(Stream.runDrain(agent.stream("hi")), inPieces(said))
    assert.strictEqual(blockedBy(seen), blocked)
    const discarded = seen.events.flatMap((event) => (event.type === "attempt-discarded" ? [event.text] : []))
    assert.lengthOf(discarded, 1)
    assert.isTrue("This is all fine so far".startsWith((discarded[0] ?? "").slice(0, 10)))
    assert.strictEqual(kept(seen.events), "")
    assert.notInclude(seen.text, secret)
  })
)

it.run("the model is told once why its answer was withheld, and answers in another turn [P1598]", (run) =>
  Effect.gen(function* () {
    const agent = guarded.pipe(Agent.onGuardrail({ output: Recovery.tell() }))
    const model = yield* make(text(`It is ${secret}`), text("I may not say"))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    assert.deepStrictEqual(seen.exit, Exit.succeed("I may not say"))
    const [hi, withheld, reminder] = model.requests[1]?.messages ?? []
    assert.deepStrictEqual(hi, Message.user("hi"))
    // no model reads what was withheld, not even the one that has said it
    assert.deepStrictEqual(withheld, Message.blank)
    assert(reminder?.role === "user")
    assert.match(Message.textOf(reminder), /was withheld.*it has the password/)
    assert.notInclude(seen.text, secret)
    assert.lengthOf(
      seen.events.filter(({ type }) => type === "turn-start"),
      2
    )
    assert.deepInclude(
      seen.events.find(({ type }) => type === "guardrail"),
      { verdict: "block", message: reminder }
    )
    // a second time ends the run; more retries and another text are options
    const twice = yield* make(text(secret), text(secret))
    assert.strictEqual(blockedBy(yield* reading(run(agent, "hi"), twice.layer)), blocked)
    const patient = guarded.pipe(
      Agent.onGuardrail(
        { output: Recovery.tell(({ guard }: RunError.GuardrailError) => `by ${guard}`) },
        { retries: 2 }
      )
    )
    const thrice = yield* make(text(secret), text(secret), text("fine"))
    assert.deepStrictEqual((yield* reading(run(patient, "hi"), thrice.layer)).exit, Exit.succeed("fine"))
    assert.deepStrictEqual(thrice.requests[2]?.messages.at(-1), Message.user("by unlessSecret"))
    const never = guarded.pipe(Agent.onGuardrail({ output: Recovery.tell() }, { retries: 0 }))
    const once = yield* make(text(secret))
    assert.strictEqual(blockedBy(yield* reading(run(never, "hi"), once.layer)), blocked)
  })
)

it.run("each told answer is a turn of the budget [P1598]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("clerk", { budget: { maxTurns: 1 } }).pipe(
      Agent.guardOutput(unlessSecret),
      Agent.onGuardrail({ output: Recovery.tell() })
    )
    const model = yield* make(text(`It is ${secret}`))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    const error = Exit.isFailure(seen.exit) ? Cause.squash(seen.exit.cause) : undefined
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.partial, "")
    assert.notInclude(seen.text, secret)
  })
)

it.run("a row answers in the place of the blocked answer [P1598]", (run) =>
  Effect.gen(function* () {
    const agent = guarded.pipe(Agent.onGuardrail({ output: Recovery.respondWith("I may not say") }))
    const model = yield* make(text(`It is ${secret}`))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    assert.deepStrictEqual(seen.exit, Exit.succeed("I may not say"))
    assert.notInclude(seen.text, secret)
  })
)

it.run(
  "texts beside calls are checked with each: the calls of a blocked one do not run; results of tools never are [P1598]",
  (run) =>
    Effect.gen(function* () {
      const says = (words: string) => replies(reply({ content: [Message.text(words), call("look", {})] }))
      const usually = scripted("look", Effect.succeed(secret))
      const model = yield* make(says(secret), text("done"))
      const usual = Agent.make("clerk", { tools: [usually.tool] }).pipe(Agent.guardOutput(unlessSecret))
      assert.deepStrictEqual((yield* reading(run(usual, "hi"), model.layer)).exit, Exit.succeed("done"))
      assert.lengthOf(usually.runs, 1)
      const closed = scripted("look", Effect.succeed(secret))
      const each = Agent.make("clerk", { tools: [closed.tool] }).pipe(Agent.guardOutput(unlessSecret, { each: true }))
      const blocking = yield* make(says(secret))
      const seen = yield* reading(run(each, "hi"), blocking.layer)
      assert.strictEqual(blockedBy(seen), blocked)
      assert.lengthOf(closed.runs, 0)
      assert.notInclude(seen.text, secret)
      const passing = yield* make(says("I look"), text("done"))
      assert.deepStrictEqual((yield* reading(run(each, "hi"), passing.layer)).exit, Exit.succeed("done"))
      assert.lengthOf(closed.runs, 1)
    })
)

it.run("the arguments of a call that is the answer are checked as one [P1597]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("clerk", { tools: [Tool.complete] }).pipe(Agent.guardOutput(unlessSecret))
    const model = yield* make(calls(call("complete", { success: true, result: secret })))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    assert.strictEqual(blockedBy(seen), blocked)
    assert.notInclude(seen.text, secret)
  })
)

describe("a check of an answer that does not decide", () => {
  const undecided = {
    fails: () => Effect.fail("lost"),
    dies: () => Effect.die(new Error("lost")),
    "interrupts itself": () => Effect.interrupt,
    "is late": () => Effect.never
  }
  for (const [name, check] of Object.entries(undecided)) {
    it.run(`and ${name} blocks, unless it is to pass [P1596]`, (run) =>
      Effect.gen(function* () {
        for (const hold of ["all", 2] as const) {
          const said = inPieces(reply({ content: [Message.text(`It is ${secret}`)] }))
          const strict = clerk.pipe(Agent.guardOutput(check, { hold, timeout: 5 }))
          const seen = yield* reading(run(strict, "hi"), said)
          assert.match(blockedBy(seen), /could not decide/)
          assert.notInclude(seen.text, secret)
          const lenient = clerk.pipe(Agent.guardOutput(check, { hold, timeout: 5, onFailure: "pass" }))
          assert.deepStrictEqual((yield* reading(run(lenient, "hi"), said)).exit, Exit.succeed(`It is ${secret}`))
        }
      })
    )
  }
})

it.run("in the last turn of a run at its limit, a blocked answer is none [P1597]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("seen"), Effect.succeed("seen"))
    const agent = Agent.make("clerk", { tools: [tool], budget: { maxTurns: 1 } }).pipe(
      Agent.onBudgetExceeded(() => Budget.answer),
      Agent.guardOutput(unlessSecret),
      Agent.onGuardrail({ output: Recovery.tell() })
    )
    const model = yield* make(calls(call("look", {})), text(`It is ${secret}`))
    const seen = yield* reading(run(agent, "hi"), model.layer)
    const error = Exit.isFailure(seen.exit) ? Cause.squash(seen.exit.cause) : undefined
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.partial, "")
    assert.deepStrictEqual(
      error.trail?.map(({ tag }) => tag),
      ["GuardrailError"]
    )
    assert.notInclude(seen.text, secret)
    const answering = agent.pipe(Agent.onGuardrail({ output: Recovery.respondWith("no") }))
    const second = yield* make(calls(call("look", {})), text(`It is ${secret}`))
    assert.deepStrictEqual((yield* reading(run(answering, "hi"), second.layer)).exit, Exit.succeed("no"))
  })
)

it.run("a failure that breaks a held answer off has nothing of it [P1597]", (run) =>
  Effect.gen(function* () {
    if (!run.isStreamed) return
    const model = yield* make(ScriptedModel.cutOff({ type: "text-delta", text: `It is ${secret}` }))
    const seen = yield* reading(run(guarded, "hi"), model.layer)
    assert.isTrue(Exit.isFailure(seen.exit))
    assert.notInclude(seen.text, secret)
  })
)

it.effect("a conversation that ends with a withheld answer has no answer: the model is asked once more [P1597]", () =>
  Effect.gen(function* () {
    const first = yield* make(text(`It is ${secret}`))
    const run = yield* started(guarded.start("hi"), first)
    const error = yield* Effect.flip(run.outcome)
    assert(error._tag === "GuardrailError")
    for (const from of [error.transcript, yield* run.transcript]) {
      const model = yield* make(text("hello again"))
      const agent = Agent.resume(guarded)
      assert.strictEqual(yield* agent({ from }).pipe(Effect.provide(model.layer)), "hello again")
    }
  })
)

it.effect("partial outputs are made of what has passed [P1597]", () =>
  Effect.gen(function* () {
    const partials = Agent.partials(guarded)
    const said = inPieces(reply({ content: [Message.text(`It is ${secret}`)] }))
    const found: Array<unknown> = []
    const watching = Stream.runForEach(partials("hi"), (partial) => Effect.sync(() => void found.push(partial)))
    assert.strictEqual(blockedBy(yield* reading(watching, said)), blocked)
    assert.deepStrictEqual(found, [])
  })
)
