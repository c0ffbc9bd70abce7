/** Through how many files of core a run goes. `npm run trips` prints them, and the head of `scripts/trips.ts` says what counts. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { root } from "../../scripts/files.ts"
import type { Trips } from "../../scripts/trips.ts"

/** The most files of each trip. Lower a number when a change has lowered the count. */
const limits = {
  "a text reply": 26,
  "a successful call": 42,
  "a failure that the model reads": 51
}

/** From the failure to its settlement: the most files, and the most of them that are left and entered again. */
const wayLimits = { files: 22, reentered: 13 }

let measured: Trips

beforeAll(() => {
  const { stderr, stdout } = spawnSync(process.execPath, [join(root, "scripts/trips.ts"), "--json"], {
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024
  })
  if (stdout === "") throw new Error(stderr)
  measured = JSON.parse(stdout)
})

it("there is a limit for each trip, and for no other", () => {
  expect(measured.trips.map(({ name }) => name)).toEqual(Object.keys(limits))
})

it.each(Object.entries(limits))("%s enters at most %i files", (name, limit) => {
  const files = measured.trips.find((trip) => trip.name === name)?.files.map(({ file }) => file) ?? []
  expect(files).toEqual(expect.arrayContaining(["run/Run", "data/Message"]))
  expect(files.length, files.join(", ")).toBeLessThanOrEqual(limit)
})

it(`at most ${wayLimits.files} files are between a failure and its settlement, at most ${wayLimits.reentered} of them re-entered`, () => {
  const { reentered, files } = measured.way
  expect(files.some((file) => file.startsWith("recovery/"))).toBe(true)
  expect(files.some((file) => file.startsWith("tool/"))).toBe(true)
  expect(files.length, files.join(", ")).toBeLessThanOrEqual(wayLimits.files)
  expect(reentered.length, reentered.join(", ")).toBeLessThanOrEqual(wayLimits.reentered)
})
