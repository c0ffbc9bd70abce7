/** What stands in the rows of a durable run as it was said, and what the guide says of that. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, Skill, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { calm } from "../_support/dialogue.ts"
import { clusterOfRows } from "./_support/cluster.ts"
import { call, reading } from "./_support/readingModel.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", { message: Schema.String }) {}

/** Made at run time: a key in the text of a test is one that was published. */
const key = (of: string) => ["sk", "proj", `Abc123Def456${of}`, "0123456789"].join("-")

const planted = {
  input: key("input"),
  reply: key("reply"),
  arguments: key("arguments"),
  result: key("result"),
  failure: key("failure"),
  decision: key("decision"),
  output: key("output")
}

/** Where the log has it: its events are rows of that kind. */
const log = ["cluster_messages deferred", "cluster_replies deferred"]

/** Where each is found: the table, and the tag of the message. */
const rowsByField = {
  input: [...log, "cluster_messages run"],
  reply: [...log, "cluster_replies activity"],
  arguments: [...log, "cluster_replies activity"],
  result: [...log, "cluster_replies activity"],
  // events have it redacted
  failure: ["cluster_replies activity"],
  decision: log,
  output: [...log, "cluster_replies activity", "cluster_replies run"]
}

const passing = Effect.gen(function* () {
  for (let i = 0; i < 20; i++) {
    for (let k = 0; k < 6; k++) yield* calm
    yield* TestClock.adjust(250)
  }
})

// Finds out nothing of its own: its subject is in which tables the engine of Effect stores texts, and what the guide says of it
it.effect("the rows of a run hold its texts and the typed failures of tools, as the guide lists them [P1399]", () =>
  Effect.gen(function* () {
    const model = reading(
      "clerk",
      (turn) =>
        [[Message.text(planted.reply), call("look", { what: planted.arguments })], [call("fail")], [call("sign")]][
          turn
        ] ?? [Message.text(planted.output)]
    )
    const asked: Array<Durable.DurableRequest> = []
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({ what: Schema.String }),
      success: Schema.String,
      run: () => Effect.succeed(planted.result)
    })
    const fail = Tool.make("fail", {
      description: "Fails.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Refused,
      run: () => Effect.fail(new Refused({ message: `cannot reach it with ${planted.failure}` }))
    }).pipe(Tool.onError({ Refused: Recovery.tell() }))
    const sign = Tool.make("sign", {
      description: "Signs.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("signed")
    }).pipe(Tool.requireApproval())
    const agent = Agent.make("clerk", {
      model: model.layer,
      skills: [Skill.make("work", { description: "Works.", tools: [look, fail, sign] })]
    })
    const durable = Durable.workflow(agent, {
      name: "clerk",
      input: Schema.String,
      output: Schema.String,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const { driver, join } = yield* clusterOfRows
    const { context } = yield* join(durable.layer)
    yield* passing
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "a", input: planted.input }), context)
    yield* passing
    const [first] = asked
    if (first === undefined) return assert.fail("no request came")
    const decision = Approval.refuse(`not with ${planted.decision}`)
    yield* Effect.provideContext(Durable.decide(durable, first, decision), context)
    yield* passing
    const end = Option.getOrUndefined(yield* Effect.provideContext(Durable.poll(durable, id), context))
    assert.strictEqual(end?._tag, "Complete")
    const found = Object.entries(planted).map(([name, secret]) => {
      const at = new Set<string>()
      for (const { envelope, replies } of driver.requests.values()) {
        if (envelope._tag !== "Request") continue
        if (JSON.stringify(envelope.payload).includes(secret)) at.add(`cluster_messages ${envelope.tag}`)
        if (JSON.stringify(replies).includes(secret)) at.add(`cluster_replies ${envelope.tag}`)
      }
      return [name, [...at].toSorted()]
    })
    assert.deepStrictEqual(
      Object.fromEntries(found),
      Object.fromEntries(Object.entries(rowsByField).map(([name, rows]) => [name, rows.toSorted()]))
    )

    const guide = readFileSync(new URL("../../docs/guide/durable-reference.md", import.meta.url), "utf8")
    const section = guide.split("## What is stored raw")[1]?.split("\n## ")[0] ?? ""
    const rows = section.split("\n").filter((line) => line.startsWith("| `"))
    for (const location of new Set(Object.values(rowsByField).flat())) {
      const [table = "", tag = ""] = location.split(" ")
      assert.isTrue(
        rows.some((row) => row.includes(`\`${table}.payload\``) && row.includes(`\`${tag}\``)),
        `the guide has no row for ${location}`
      )
    }
    assert.include(section, "typed failures of tools")
    assert.include(section, "A layer may encrypt")
  })
)
