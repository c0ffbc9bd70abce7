/** `kintsugi eval`. */
import { Eval } from "@kintsugi/core/testing"
import { EvalPage, EvalSvg } from "@kintsugi/view"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { reportOf } from "../eval/_support/report.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"

const { file, folder } = folderOfTests()
const report = reportOf(["none", "retry"], ["busy", "gone"])
const source = file("report.json", JSON.stringify(report, undefined, 2))

describe("kintsugi eval", () => {
  it("writes a table, a drawing or a page", async () => {
    const table = await kintsugi(["eval", source])
    expect(table).toEqual({ code: 0, err: "", out: `${Eval.format(report)}\n` })
    for (const [name, text] of [
      ["eval.svg", `${EvalSvg.draw(report)}\n`],
      ["eval.html", EvalPage.make(report)],
      ["eval.txt", `${Eval.format(report)}\n`]
    ] as const) {
      const target = join(folder, name)
      expect(await kintsugi(["eval", source, "-o", target])).toEqual({ code: 0, out: "", err: "" })
      expect(readFileSync(target, "utf8")).toBe(text)
    }
  })

  it("reads standard input, and tells names of a line each", async () => {
    const odd = reportOf(["a\nb", "\u001b[31mred"], ["two\tparts"], "No\nKeys")
    const { code, out } = await kintsugi(["eval", "-"], { stdin: JSON.stringify(odd) })
    expect(code).toBe(0)
    expect(out).toBe(`${Eval.format(reportOf(["a b", "\u241b[31mred"], ["two parts"], "No Keys"))}\n`)
  })

  it("ends with 1 for a file that is no report, and reports why [P1240]", async () => {
    const { policies, scenarios } = report
    for (const [name, text, says] of [
      ["prose.json", "hello", "prose.json is no report of Eval"],
      ["other.json", JSON.stringify({ ...report, type: "other" }), '"type"'],
      ["short.json", JSON.stringify({ ...report, policies: policies.slice(1) }), "'busy' has 2 shares for 1 policies"],
      ["half.json", JSON.stringify({ ...report, scenarios: [{ ...scenarios[0], passed: 3 }] }), '"passed"']
    ] as const) {
      const said = await kintsugi(["eval", file(name, text)])
      expect([said.code, said.out]).toEqual([1, ""])
      expect(said.err).toContain(says)
    }
    const missing = await kintsugi(["eval", join(folder, "missing.json")])
    expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("there is no such file") })
  })

  it("does not overwrite the report, and requires one [P1240 P1250]", async () => {
    for (const [parameters, says] of [
      [["eval", source, "-o", source], "would overwrite the input"],
      [["eval"], "Missing required argument"],
      [["eval", source, "-o", "eval.pdf"], ".svg"]
    ] as const) {
      const said = await kintsugi(parameters)
      expect([said.code, said.out]).toEqual([2, ""])
      expect(said.err).toContain(says)
    }
    expect(JSON.parse(readFileSync(source, "utf8"))).toEqual(report)
  })
})
