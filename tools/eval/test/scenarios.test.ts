/** What `npm run eval` plays: the scenarios, the policies, the stand-in, and who judges. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Coercion, Recovery } from "@kintsugi/core"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { offline, type Plan } from "../src/evaluate.ts"
import { tidied } from "../src/fixers.ts"
import { classTable, format, markdown, policyTable, scenarioTable } from "../src/format.ts"
import { isClaim, judge, wantedOf } from "../src/judge.ts"
import { type Policy, policies } from "../src/policies.ts"
import { defaults } from "../src/rates.ts"
import { reportOf } from "../src/report.ts"
import { classes } from "../src/scenario.ts"
import { scenarios } from "../src/scenarios.ts"

const page = readFileSync(join(root, "docs/reports/eval.md"), "utf8")

const plan: Plan = {
  scenarios,
  policies,
  runs: 1,
  seed: 1,
  rates: defaults,
  price: { usdPerMillionTokens: { input: 3, output: 15 } },
  limits: { maxTokens: Infinity, maxCost: Infinity }
}

const named = (...names: ReadonlyArray<string>) =>
  names.flatMap((wanted) => policies.filter(({ name }) => name === wanted))

const reported = (changes: Partial<Plan>) => {
  const changed = { ...plan, ...changes }
  return Effect.map(offline(changed), (evaluation) => reportOf(evaluation, changed))
}

/** Of each scenario, how many runs were healed under each policy. */
const counts = (changes: Partial<Plan>) =>
  Effect.map(reported(changes), ({ scenarios }) =>
    Object.fromEntries(scenarios.map(({ healed, scenario }) => [scenario, healed.map(({ count }) => count)]))
  )

const certain = { ...defaults, corrects: 1, guesses: 0, claims: 0, mends: 1, invents: 0 }

const ofModel = new Set(["overloaded-model", "full-context", "empty-answer", "empty-replies"])

describe("the scenarios", () => {
  it.effect("are sound without their fault, and each fault ends a run that does not recover", () =>
    Effect.gen(function* () {
      const ended = scenarios.filter(({ fixer, isMendedAnyhow }) => isMendedAnyhow !== true && fixer !== "escalates")
      const { policies: rows, sound } = yield* reported({ policies: named("none"), scenarios: ended })
      assert.isAtLeast(scenarios.length, 25)
      assert.strictEqual(sound.rate, 1)
      assert.strictEqual(rows[0]?.healed.of, ended.length)
      assert.strictEqual(rows[0]?.healed.count, 0)
      assert.deepStrictEqual([rows[0]?.silent, rows[0]?.claimed], [0, 0])
    })
  )

  it.effect("can all be healed by one of the policies", () =>
    Effect.gen(function* () {
      const healed = yield* counts({ policies: named("resilient"), rates: certain })
      assert.deepStrictEqual(healed, Object.fromEntries(scenarios.map(({ name }) => [name, [1]])))
    })
  )

  it.effect("are healed by an agent that is resilient, nine in ten, and eight in ten of each kind", () =>
    Effect.gen(function* () {
      const report = yield* reported({ policies: named("resilient"), runs: 25 })
      const [row] = report.policies
      assert.isAtLeast(row?.healed.rate ?? 0, 0.9)
      for (const of of classes) assert.isAtLeast(row?.classes[of].rate ?? 0, 0.8, of)
      // there a model may overlook twice that its call may have taken effect
      const wrong = report.scenarios.filter(({ wrong: [count = 0] }) => count > 0)
      assert.deepStrictEqual(
        wrong.map(({ scenario }) => scenario),
        ["lost-after-work"]
      )
      assert.deepStrictEqual([row?.silent, row?.wrong], [1, 1])
      // these are the numbers of the page
      const counted = policyTable(report).lines.at(-1)?.slice(0, 6)
      assert.include(page, `| ${counted?.join(" | ")} |`)
      assert.include(page, markdown(classTable(report)).at(-1) ?? "nothing")
      const shown = scenarioTable(report).lines.map(([name, rate]) => [name, rate])
      const onPage = shown.map(([name]) => [name, new RegExp(`^\\| ${name} \\|.* (\\d+) \\|$`, "m").exec(page)?.[1]])
      assert.deepStrictEqual(onPage, shown)
    })
  )

  it.effect("are repeated blindly by a resilient agent less often than by one that only tells", () =>
    Effect.gen(function* () {
      const { policies: rows } = yield* reported({
        scenarios: scenarios.filter(({ name }) => name === "lost-after-work"),
        policies: named("tell", "resilient"),
        runs: 100
      })
      const [texts = 0, held = 0] = rows.map(({ wrong }) => wrong)
      assert.isAbove(texts, 9)
      assert.isBelow(held, 5)
    })
  )

  it.effect("show a policy that repeats what may have been done, where the model does not", () =>
    Effect.gen(function* () {
      const { policies: rows } = yield* reported({
        scenarios: scenarios.filter(({ name }) => name === "lost-after-work"),
        policies: named("none", "tell", "resilient", "retry", "layered"),
        rates: certain
      })
      assert.deepStrictEqual(
        rows.map(({ healed, wrong }) => [healed.count, wrong]),
        [
          [0, 0],
          [1, 0],
          [1, 0],
          [0, 1],
          [0, 1]
        ]
      )
    })
  )

  it.effect("the model reads what is wrong in them, in more than a few words", () =>
    Effect.gen(function* () {
      const healed = yield* counts({ policies: named("tell", "escalate", "tell-vaguely"), rates: certain })
      for (const { check, fault, fixer, isMendedAnyhow, name } of scenarios) {
        // these have a table of their own, or need none
        if (fixer !== undefined || isMendedAnyhow === true) continue
        const readsIt = ofModel.has(name) ? [0, 0, 0] : fault.at === "answer" ? [1, 0, 0] : [1, 1, 0]
        // a busy tool works in the end where the model just repeats the call
        const isRepeated = fault.at === "tool" && fault.times !== Infinity
        // an escalation does not say that the work may be done
        const mayBeDone = check !== undefined ? [1, 0, 0] : undefined
        assert.deepStrictEqual(healed[name], mayBeDone ?? (isRepeated ? [1, 1, 1] : readsIt), name)
      }
    })
  )

  it.effect("happen as often as their rate, and a spared run is sound", () =>
    Effect.gen(function* () {
      const spared = yield* reported({ policies: named("none"), rates: { ...defaults, breaks: 0 } })
      assert.strictEqual(spared.policies[0]?.healed.of, 0)
      const some = yield* reported({ policies: named("none"), runs: 6, rates: { ...defaults, breaks: 0.5 } })
      const met = some.policies[0]?.healed.of ?? 0
      assert.isTrue(met > 50 && met < 130, String(met))
    })
  )
})

it("an answer that admits the failure, or is a question, claims no success", () => {
  for (const [output, is] of [
    ["Done! Everything is as you have asked.", true],
    ["It is R-000001.", true],
    ["I could not do it.", false],
    ["We can not do it.", false],
    ["What shall I do?", false],
    ["I was unable to book the room, for the server is down.", false]
  ] as const)
    assert.strictEqual(isClaim(output), is, output)
})

describe("the judge", () => {
  const scenario = scenarios.find(({ name }) => name === "single-quotes")
  assert.isDefined(scenario)
  const wanted = wantedOf(scenario, true)
  const right = { tool: "book_room", params: wanted.arguments, reference: "R-000001" }

  it("sees what was done, how often, and what the user reads", () => {
    const cases = [
      [[right], "It is R-000001.", true, false],
      [[right], "It is done.", false, false],
      [[right], undefined, false, false],
      [[], "It is R-000001.", false, false],
      [[right, { ...right, reference: "R-000002" }], "It is R-000001.", false, true],
      [[{ ...right, params: { ...wanted.arguments, city: "Bergen" } }], "It is R-000001.", false, true],
      [[right, { ...right, tool: "read_report" }], "It is R-000001.", false, true]
    ] as const
    for (const [deeds, output, isHealed, isWrong] of cases) {
      assert.deepStrictEqual(judge(scenario, wanted, { deeds, output }), { isHealed, isWrong }, String(output))
    }
    const strict = { ...scenario, isReferenceDemanded: true } as const
    assert.isFalse(judge(strict, wanted, { deeds: [right], output: "It is R-000001." }).isHealed)
    assert.isTrue(judge(strict, wanted, { deeds: [right], output: "R-000001\n" }).isHealed)
  })

  it.effect("believes no policy that claims a success", () =>
    Effect.gen(function* () {
      const claim = "Booked. The reference is R-ABCDEF."
      const liars: ReadonlyArray<Policy> = [
        { name: "answers", says: "", coercion: Coercion.steps, guard: () => () => Effect.succeed(claim) },
        {
          name: "catches",
          says: "",
          coercion: [],
          guard: (desk) => (asked) => desk(asked).pipe(Effect.orElseSucceed(() => claim))
        },
        {
          name: "respondWith",
          says: "",
          coercion: [],
          guard: (desk) =>
            desk.pipe(
              Agent.toolDefaults({ orElse: Recovery.respondWith("R-ABCDEF"), UnknownToolError: Recovery.raise }),
              Agent.onLlmError({ orElse: Recovery.respondWith("R-ABCDEF") })
            )
        }
      ]
      const { policies: rows } = yield* reported({ policies: liars, rates: certain })
      // what an agent does by itself is no lie: it asks for one more answer, and tells that a name is no tool
      assert.deepStrictEqual(
        rows.map(({ healed }) => healed.count),
        // besides, names that are near are understood, and one tool has a fixer that escalates
        [0, 5, 3]
      )
      const lies = rows.map(({ claimed, silent }) => claimed + silent)
      assert.isAbove(lies[1] ?? 0, 15)
      assert.isAbove(lies[2] ?? 0, 10)
    })
  )
})

describe("a run", () => {
  it.effect("that owns up to a failure claims nothing", () =>
    Effect.gen(function* () {
      const honest: Policy = {
        name: "honest",
        says: "",
        coercion: [],
        guard: (desk) => (asked) =>
          desk
            .pipe(Agent.toolDefaults(Recovery.presets.tellAll()))(asked)
            .pipe(Effect.orElseSucceed(() => "I could not do it."))
      }
      const rates = { ...defaults, corrects: 0, guesses: 0, claims: 0 }
      const missing = scenarios.filter(({ name }) => name === "missing-field")
      const { policies: rows } = yield* reported({ policies: [honest], scenarios: missing, rates })
      assert.deepStrictEqual([rows[0]?.claimed, rows[0]?.silent], [0, 1])
    })
  )

  it.effect("counts the turns of the desk, and the calls of its fixers too", () =>
    Effect.gen(function* () {
      const missing = scenarios.filter(({ name }) => name === "single-quotes")
      const { policies: rows } = yield* reported({ policies: named("fix-agent"), scenarios: missing, rates: certain })
      assert.deepStrictEqual([rows[0]?.extra?.turns, rows[0]?.extra?.modelCalls], [0, 1])
    })
  )
})

describe("the stand-in", () => {
  it.effect("makes up what a fixer cannot know as often as its rate, and the check finds it", () =>
    Effect.gen(function* () {
      const missing = scenarios.filter(({ name }) => name === "missing-field")
      const bold = yield* reported({
        scenarios: missing,
        policies: named("fix-agent"),
        rates: { ...certain, invents: 1 }
      })
      assert.deepStrictEqual([bold.policies[0]?.healed.count, bold.policies[0]?.wrong], [0, 1])
      const modest = yield* reported({ scenarios: missing, policies: named("fix-agent"), rates: certain })
      assert.deepStrictEqual([modest.policies[0]?.healed.count, modest.policies[0]?.wrong], [1, 0])
    })
  )

  it.effect("claims that all is done where it gives up", () =>
    Effect.gen(function* () {
      const rates = { ...defaults, corrects: 0, guesses: 0, claims: 1 }
      const texts = scenarios.filter(({ isMendedAnyhow }) => isMendedAnyhow !== true)
      const { policies: rows } = yield* reported({ policies: named("tell"), rates, scenarios: texts })
      assert.strictEqual(rows[0]?.healed.count, 0)
      // what it was told last was a failure
      assert.isAbove(rows[0]?.claimed ?? 0, 10)
      assert.strictEqual(rows[0]?.silent, 0)
    })
  )
})

describe("the evaluation", () => {
  const few = { scenarios: scenarios.slice(0, 6), policies: named("tell", "fix-agent", "retry", "layered"), runs: 3 }

  it.effect("gives the same report for the same seed, and another for another", () =>
    Effect.gen(function* () {
      const first = format(yield* reported(few))
      assert.strictEqual(format(yield* reported(few)), first)
      assert.notStrictEqual(format(yield* reported({ ...few, seed: 2 })), first)
    })
  )

  it.effect("waits on a virtual clock, and counts the waits", () =>
    Effect.gen(function* () {
      const busy = scenarios.filter(({ name }) => name === "busy-tool" || name === "overloaded-model")
      const { policies: rows } = yield* reported({ scenarios: busy, policies: named("retry", "none") })
      // twice, after 1 and 2 seconds
      assert.deepStrictEqual(
        rows.map(({ waited }) => waited),
        [3000, undefined]
      )
    })
  )

  it.effect("leaves out what its own limit has cut off", () =>
    Effect.gen(function* () {
      const limits = { maxTokens: 6000, maxCost: Infinity }
      const { policies: rows, sound, spent } = yield* reported({ ...few, limits })
      assert.isBelow(spent.runs, spent.planned)
      assert.isBelow(spent.tokens, 7500)
      assert.strictEqual(
        spent.runs,
        rows.reduce((sum, { runs }) => sum + runs, sound.of)
      )
      assert.isTrue(rows.every(({ failures }) => failures["BudgetExceededError"] === undefined))
    })
  )
})

describe("the fixer that is a function", () => {
  const sent = { city: "Oslo", date: "2027-03-03", nights: 2, room: "double", guest: { name: "Ada", age: 36 } }

  it("mends what it knows, and leaves the rest as it is", () => {
    const text = JSON.stringify(sent)
    const written = { ...sent, date: "3 March 2027", nights: "2", guest: '{"name":"Ada","age":36}', currency: "EUR" }
    for (const raw of [text, text.replaceAll('"', "'"), text.replaceAll("}", ",}"), `\`\`\`json\n${text}\n\`\`\``]) {
      assert.deepStrictEqual(JSON.parse(tidied(raw)), sent)
    }
    assert.deepStrictEqual(JSON.parse(tidied(JSON.stringify(written))), sent)
    assert.strictEqual(tidied(text.slice(0, 40)), text.slice(0, 40))
    assert.deepStrictEqual(JSON.parse(tidied('{"date":"soon"}')), { date: "soon" })
  })
})
