/**
 * Every function that sees foreign text is linear in its length. One process measures them all, so that nothing else is at work beside
 * them; the tables stand in `test/_support/inputs`. Each function has every sixteenth family of its inputs here, and all of them in
 * `npm run linear`.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { beforeAll, describe, expect, it } from "vitest"
import { root } from "../../scripts/files.ts"
import { tables } from "../_support/inputs/index.ts"

/** What the process prints. */
interface Line {
  readonly table?: string
  readonly id?: string
  readonly family?: string
  readonly refusal?: string
  readonly begun?: string
  readonly unreached?: string
  readonly ended?: true
}

const minutes = 60_000

const measured = (...options: ReadonlyArray<string>): ReadonlyArray<Line> => {
  const program = join(root, "test/_support/inputs/main.ts")
  const { stdout } = spawnSync(process.execPath, [program, ...options], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: 25 * minutes
  })
  const lines: ReadonlyArray<Line> = stdout
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line))
  if (lines.at(-1)?.ended === true) return lines
  const last = lines.findLast(({ begun }) => begun !== undefined)?.begun ?? "nothing"
  return [...lines, { id: last, family: "all", refusal: "it did not end" }]
}

const refusedIn = (lines: ReadonlyArray<Line>, table?: string): ReadonlyArray<string> =>
  lines.flatMap((line) =>
    line.refusal === undefined || (line.table !== undefined && line.table !== table)
      ? []
      : [`${line.id}: ${line.family}: ${line.refusal}`]
  )

describe("the measurement of growth", () => {
  it(
    "refuses a quadratic function and one that throws, and lets linear ones pass [P1390]",
    // a machine that is busy at the wrong instant hides the growth of a function
    { timeout: 10 * minutes, retry: 2 },
    () => {
      const lines = measured("--planted")
      expect(lines.flatMap(({ id, refusal }) => (refusal === undefined ? [] : [id])).toSorted()).toEqual([
        "planted quadratic behind a bound",
        "planted quadratic in an expression",
        "planted quadratic in copies",
        "planted throws on long texts"
      ])
      expect(lines.flatMap(({ begun }) => begun ?? [])).toHaveLength(7)
    }
  )

  it("reaches every function that is measured as a part of another [P1390]", { timeout: 10 * minutes }, () => {
    const lines = measured("--reach")
    expect([...refusedIn(lines), ...lines.flatMap(({ unreached }) => unreached ?? [])]).toEqual([])
  })
})

describe("functions that see foreign text are linear in its length", () => {
  let lines: ReadonlyArray<Line> = []
  beforeAll(() => {
    lines = measured("--part=1/16")
  }, 30 * minutes)

  it.each(Object.keys(tables))("%s [P1390]", (table) => {
    expect(refusedIn(lines, table)).toEqual([])
  })
})
