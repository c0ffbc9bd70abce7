/** A written test as a reader has it: formatted, with strict types, and run by Vitest. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { root } from "../../../scripts/files.ts"
import { quoted, shellIn } from "../cli/_support/shell.ts"

mkdirSync(join(root, ".cache"), { recursive: true })
const folder = mkdtempSync(join(root, ".cache", "written-"))
// a formatter leaves out the files of `.cache`
const formatted = mkdtempSync(join(tmpdir(), "written-"))
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  rmSync(formatted, { recursive: true, force: true })
})

const sh = shellIn(folder)
const bin = (name: string) => quoted(join(root, "node_modules/.bin", name))

writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({
    extends: join(root, "tsconfig.base.json"),
    // the name in the suggested row is imported already
    compilerOptions: { noEmit: true, types: ["node"], noUnusedLocals: false },
    include: ["*.test.ts"]
  })
)
writeFileSync(join(folder, "vitest.config.ts"), "export default { test: { include: ['*.test.ts'] } }")

const event = (type: string, at: number, fields: object) =>
  JSON.stringify({ runId: "r", agent: "refund-desk", turn: type === "run-start" ? 0 : 1, at, type, ...fields })
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
const call = { type: "tool-call", id: "c1", name: "refund", arguments: { id: "O-1" } }
const error = { name: "PaymentDeclined", message: 'the card\'s issuer says "no"' }
const events = [
  event("run-start", 0, {
    input: "Refund O-1.",
    transcript: [{ role: "user", content: [{ type: "text", text: "Refund O-1." }] }]
  }),
  event("turn-start", 0, {}),
  event("model-start", 0, { model: "m", provider: "p", attempt: 1 }),
  event("model-end", 300, {
    model: "m",
    attempt: 1,
    entry: {},
    reply: { content: [call], finish: "tool-calls", usage }
  }),
  event("tool-start", 300, { callId: "c1", tool: "refund", arguments: call.arguments }),
  event("tool-failed", 900, { callId: "c1", tool: "refund", attempt: 1, error }),
  event("run-failed", 900, { error, isDefect: false, transcript: [], usage, ledger: [] })
]

const vitest = (file: string) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder, file],
    {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", CI: "true" }
    }
  )
  return { status, said: `${stdout}${stderr}` }
}

describe("kintsugi test", () => {
  it(
    "writes a file that compiles, is formatted, is red, and is green with the row [P1270]",
    { timeout: 120_000 },
    () => {
      writeFileSync(join(folder, "events.jsonl"), `${events.join("\n")}\n`)
      copyFileSync(join(root, "docs/guide/pictures/events.jsonl"), join(folder, "demo.jsonl"))
      assert.deepStrictEqual(
        sh("kintsugi test events.jsonl -o red.test.ts && kintsugi test demo.jsonl -o demo.test.ts"),
        {
          code: 0,
          out: "",
          err: ""
        }
      )
      const text = readFileSync(join(folder, "red.test.ts"), "utf8")
      const row = /^( *)\/\/ (PaymentDeclined: Recovery\.tell\(\))$/m
      assert.match(text, row)
      const green = text.replace(row, "$1$2")
      writeFileSync(join(folder, "green.test.ts"), green)

      const types = sh(`${bin("tsc")} -p .`)
      assert.deepStrictEqual(types, { code: 0, out: "", err: "" })
      for (const name of ["red.test.ts", "green.test.ts", "demo.test.ts"])
        copyFileSync(join(folder, name), join(formatted, name))
      copyFileSync(join(root, ".oxfmtrc.json"), join(formatted, ".oxfmtrc.json"))
      const format = shellIn(formatted)(`${bin("oxfmt")} --check .`)
      assert.strictEqual(format.code, 0, format.out)

      const red = vitest("red.test.ts")
      assert.strictEqual(red.status, 1)
      assert.include(red.said, 'PaymentDeclined: the card\'s issuer says "no"')
      assert.strictEqual(vitest("green.test.ts").status, 0)
      assert.strictEqual(vitest("demo.test.ts").status, 0)
    }
  )
})
