/** `kintsugi stats` as a process, and beside pipes. */
import { execFileSync } from "node:child_process"
import { linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"
import { kintsugi, folderOfTests } from "./_support/playing.ts"
import { shellIn } from "./_support/shell.ts"

const { file, folder } = folderOfTests()
const shell = shellIn(folder)

const events = readFileSync(join(root, "docs/guide/pictures/events.jsonl"), "utf8")

/** A process starts slowly on a machine that is at work. */
const timeout = 120_000

describe("kintsugi stats", () => {
  it("holds one file at a time, however many there are [P1239]", { timeout }, () => {
    const large = file("large.txt", events.repeat(50))
    const many = join(folder, "many")
    mkdirSync(many)
    for (let index = 0; index < 60; index++) linkSync(large, join(many, `${index}.jsonl`))
    // all of them are 45 MB, and more once they are read
    const { code, out } = shell("kintsugi stats many --json", { NODE_OPTIONS: "--max-old-space-size=48" })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ recordings: 60, events: 60 * 50 * 29 })
  })

  it("waits for no pipe in a folder, and names it [P1251]", async () => {
    const piped = join(folder, "piped")
    mkdirSync(piped)
    writeFileSync(join(piped, "a.jsonl"), events)
    symlinkSync("nowhere", join(piped, "gone.jsonl"))
    execFileSync("mkfifo", [join(piped, "pipe.jsonl")])
    const { code, err, out } = await kintsugi(["stats", piped, "--json"])
    expect(code).toBe(0)
    const { recordings, unread } = JSON.parse(out)
    expect(recordings).toBe(1)
    expect(unread.map(({ reason }: { reason: string }) => reason)).toEqual([
      "there is no such file",
      "it is no regular file"
    ])
    expect(err).toContain("2 of 3 files were not counted")
    const named = await kintsugi(["stats", join(piped, "pipe.jsonl")])
    expect(named).toMatchObject({ code: 1, out: "", err: expect.stringContaining("it is no regular file") })
  })
})
