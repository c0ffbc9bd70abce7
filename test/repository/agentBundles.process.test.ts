/** Ten agents, each bundled into one file as a user would: how large it is, and what of the library is not in it. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { install, readable, weigh } from "../../bench/src/bundling.ts"
import { agents, heaviest, sourceOf } from "../../bench/src/weighed.ts"

const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-agents-"))

beforeAll(() => install(folder), 240_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Minified and gzipped, in KB of 1,000 bytes, as it was reached last. A bundle that is much smaller by now has its size set anew. */
const sizes: Readonly<Record<(typeof agents)[number], number>> = {
  hello: 172.1,
  table: 174,
  fixer: 173.3,
  streamed: 172.1,
  approval: 176.5,
  resumed: 185.2,
  structured: 174.8,
  telemetry: 178.8,
  composed: 176.7,
  models: 195.7
}

/** How far a size may be from what it was. */
const spare = 0.015

describe("an agent in one file", () => {
  it.each(agents)("%s", async (agent) => {
    const weight = await weigh(folder, sourceOf(agent))
    const modules = heaviest(weight)
    const report = `${agent}: ${weight.gzip} KB, and was ${sizes[agent]}. Its largest modules:\n${modules.join("\n")}\n`
    expect(weight.gzip, report).toBeLessThan(sizes[agent] * (1 + spare))
    expect(weight.gzip, report).toBeGreaterThan(sizes[agent] * (1 - spare))
    expect(new Set(modules).size).toBe(10)
  })
})

const agentWith = (imports: string, rest: string): string =>
  `${imports}\n${sourceOf("hello")}\nexport const more = (show: (shown: unknown) => void) => ${rest}`

/**
 * What an agent brings along only if it is used, with a program that uses it, and texts of its code by which it is known wherever it
 * stands: a name, a message, a call. They are looked for in a bundle whose names are left as they are.
 */
const parts: Readonly<Record<string, readonly [using: string, marks: ReadonlyArray<RegExp>]>> = {
  "the codec of snapshots": [
    sourceOf("resumed"),
    [/sameTool: ?[\w$.]+\(\{ ?tool:/, /Expected a document that is not nested so deeply/]
  ],
  "the claims and signatures of snapshots": [
    sourceOf("resumed"),
    [/was resumed before/, /Only this process knows which snapshots/, /@kintsugi\/core\/Snapshot\/Signing/]
  ],
  "the last turn of a run at its limit": [
    agentWith(
      'import * as Budget from "@kintsugi/core/Budget"',
      "show(Agent.onBudgetExceeded(agent, () => Budget.answer))"
    ),
    [/tools are no longer available in it/, /answerTurn: ?(?:true|!0)/]
  ],
  "the compaction before a limit": [
    agentWith(
      'import { dropOldest } from "@kintsugi/core/Compaction"',
      "show(Agent.compactAt(agent, { with: dropOldest({ keepLast: 9 }) }))"
    ),
    [/"not-compacted"/, /share must be above 0 and at most 1/]
  ],
  "results that are put aside": [
    agentWith('import { putAside } from "@kintsugi/core/Tool"', "show(putAside({ above: 9 }))"),
    [/read_result/, /Tool\.putAside: above must be/]
  ],
  "turns that are prepared": [
    agentWith('import { Effect } from "effect"', "show(Agent.prepareTurn(agent, () => Effect.succeed({})))"),
    [/: prepareTurn names '/, /The function of Agent\.prepareTurn of agent/]
  ],
  "images and files in results": [
    agentWith('import { parts } from "@kintsugi/core/Tool"', "show(parts)"),
    [/: maxBytes must be a whole number/, /"parts-described"/]
  ],
  guardrails: [
    agentWith(
      'import { Effect } from "effect"',
      'show(Agent.guardOutput(agent, () => Effect.succeed({ type: "pass" })))'
    ),
    [/guardrail-output-/, /the arguments of a call cannot be replaced/]
  ],
  "what becomes of late results": [
    agentWith('import { deferred } from "@kintsugi/core/Tool"', "show(deferred)"),
    [/do not make the call again to get it/, /no approver can be asked about a call whose run has gone on/]
  ],
  "replies that go on": [sourceOf("table"), [/Go on exactly where it ends/, /\bisAble\b/]],
  "what was decided while a run was suspended": [sourceOf("resumed"), [/it was asked for when the call was made/]],
  "the gate of approvals": [sourceOf("approval"), [/has a tool that needs an Approver, and there is none/]],
  "a person as a rung": [
    agentWith('import { ask } from "@kintsugi/core/Recovery"', "show(ask())"),
    [/Recovery\.ask: validFor must be/, /a person has refused to run it once more/]
  ],
  grants: [sourceOf("approval"), [/Grants could not be/, /\.isRevoked\(/]],
  "the wait of deferred tools": [
    agentWith('import { deferred } from "@kintsugi/core/Tool"', "show(deferred)"),
    [/: start returned no JSON/, /The cancel of tool/]
  ],
  "the pins of tools that their servers may change": [
    agentWith('import { pinned } from "@kintsugi/core/Tool"', "show(pinned)"),
    [/its server has changed what the tool is/, /"tool-changed"/]
  ],
  "what a snapshot says of the tools that wait in it": [sourceOf("resumed"), [/is for another definition of the tool/]],
  "the reports of fixers": [sourceOf("fixer"), [/This is repair attempt /, /the corrected arguments as JSON/]],
  explanations: [
    agentWith(
      'import * as Explanation from "@kintsugi/core/Explanation"',
      "show(Explanation.formatRun(Agent.explain(agent)))"
    ),
    [/chosen at each failure, bounded by the caps of a call alone/, /a run, at worst: /, /\bexplainRun\b/]
  ],
  compactions: [sourceOf("models"), [/type: ?"compacted"/, /"dropOldest"/]],
  "the rules of routers": [sourceOf("composed"), [/\bbyRule\b/]],
  "the choice among skills": [sourceOf("composed"), [/Choose the skill that fits/, /has no skill '/]],
  "what goes on from a snapshot": [
    sourceOf("resumed"),
    [/cannot resume a snapshot of agent/, /a message of say has no option/]
  ],
  compensations: [
    agentWith('import { compensate } from "@kintsugi/core/Tool"', "show(compensate)"),
    [/could not be undone, key/, /"tool-compensated"/]
  ],
  policies: [
    agentWith("", 'show(Agent.toolPolicy(agent, () => ({ type: "allow" })))'),
    [/the policy could not decide/, /"A policy of agent"/]
  ],
  "the ends of built-in tools": [
    agentWith('import { complete } from "@kintsugi/core/Tool"', "show(complete)"),
    [/The task is closed\./, /The task is given back/]
  ],
  "attempts within a function of the user": [
    agentWith('import { around } from "@kintsugi/core/Tool"', "show(around)"),
    [/The function of Tool\.around for/, /isPassing: ?/]
  ],
  "the steps of fixers and persons": [sourceOf("fixer"), [/ repairs per call/]],
  "the refusal of repeated calls": [agentWith("", "show(Agent.resilient(agent))"), [/ofTool\(/]],
  "the titles of errors": [
    agentWith('import { describe } from "@kintsugi/core/RecoveryAdvice"', "show(describe)"),
    [/Arguments are no JSON/, /Tool failed for good/]
  ],
  "the stream of UI messages": [
    agentWith(
      'import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"',
      'show([UiMessageStream.headers, UiMessageStream.fromStream(agent.stream("1 + 1"))])'
    ),
    [/x-vercel-ai-ui-message-stream/, /"tool-input-available"/]
  ],
  "the schema of events": [
    agentWith('import * as AgentEvent from "@kintsugi/core/AgentEvent"', "show(AgentEvent.AgentEvent)"),
    [/"skill-chosen": ?[\w$.]+\("skill-chosen"/, /\[ ?"stop", ?"extend", ?"checkpoint", ?"answer" ?\]/]
  ]
}

describe("a hello agent goes without", () => {
  let hello = ""
  beforeAll(async () => {
    hello = await readable(folder, sourceOf("hello"))
    expect(hello).toContain("Adds two numbers.")
  })

  it.each(Object.entries(parts))("%s", async (_, [using, marks]) => {
    const found = await readable(folder, using)
    for (const mark of marks) {
      expect(found).toMatch(mark)
      expect(hello).not.toMatch(mark)
    }
  })
})
