/** The lint step refuses regular expressions whose time is not linear in the length of a text. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { expect, it } from "vitest"
import { root } from "../../scripts/files.ts"

const names = "api[-_ ]?key|token|secret|password|session|credential"

/** Each as it stood where secrets are looked for, and took the square of the length of a text. */
const square = [
  String.raw`/\b[a-z][a-z\d+.-]*:\/\//gi`,
  String.raw`/\beyJ[\w-]{8,}\./g`,
  String.raw`/\bkey(?=[-_][\w-]*\d)[-_][\w-]{8,}/gi`,
  String.raw`/(?:[^\s/@]+|[^\s/@:"'<>]*:(?!\d+(?:\/|$))[^\s"'<>]*)@/gi`,
  String.raw`/((?:${names})\s*:\s*["']?)(?!<)(?=[^\s"',;&]*\d)[^\s"',;&]{6,}/gi`
]

const linear = [String.raw`/\bBearer \w+/g`, String.raw`/"(?:[^"\\]|\\.)*"?/gs`]

const check = (...expressions: ReadonlyArray<string>) => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-"))
  try {
    writeFileSync(join(folder, "planted.ts"), expressions.map((one) => `export const _ = ${one}`).join("\n"))
    const { status, stdout } = spawnSync(process.execPath, [join(root, "scripts/regexps.ts"), relative(root, folder)], {
      encoding: "utf8"
    })
    const refused = stdout.split("\n").flatMap((line) => /planted\.ts:\d+: (.+)$/.exec(line)?.[1] ?? [])
    return { status, refused }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it("an expression that takes the square of the length is refused [P1390]", { timeout: 300_000 }, () => {
  expect(check(...square, ...linear)).toEqual({ status: 1, refused: square })
})

it("linear ones pass [P1390]", { timeout: 300_000 }, () => {
  expect(check(...linear)).toEqual({ status: 0, refused: [] })
})
