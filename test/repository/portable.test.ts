/** What the lint step refuses because only POSIX has it. */
import { describe, expect, it } from "vitest"
import { findingsIn } from "../../scripts/portable/finding.ts"

const said = (text: string) => findingsIn({ path: "a.ts", text }).map(({ line, says }) => `${line} ${says}`)

describe("a source that holds on POSIX alone", () => {
  it.each([
    [
      "a template",
      "const folder = dirname(file)\nread(`${folder}/x`)",
      "2 joins a path with '/': use join of node:path"
    ],
    ["a call in a template", "read(`${tmpdir()}/x`)", "1 joins a path with '/': use join of node:path"],
    ["its own folder", "read(`${import.meta.dirname}/../x`)", "1 joins a path with '/': use join of node:path"],
    ["a sum", "const at = path.join(a, b)\nread(at + '/x')", "2 joins a path with '/': use join of node:path"],
    ["parts", "const at = resolve(a)\nat.split('/')", "2 splits a path at '/': use sep of node:path"],
    ["a URL", "new URL('x', import.meta.url).pathname", "1 takes the pathname of a file's URL: use fileURLToPath"],
    [
      "a named URL",
      "const at = new URL('x', import.meta.url)\nat.pathname",
      "2 takes the pathname of a file's URL: use fileURLToPath"
    ],
    ["a signal sent", "child.kill('SIGINT')", "1 sends SIGINT, which Windows does not know"],
    ["a choice of signals", "child.kill(isHard ? 'SIGKILL' : 'SIGHUP')", "1 sends SIGHUP, which Windows does not know"],
    ["a signal heard", "process.once('SIGUSR2', act)", "1 waits for SIGUSR2, which Windows does not know"]
  ])("is refused: %s", (_, text, finding) => {
    expect(said(text)).toEqual([finding])
  })

  it.each([
    "const at = join(a, 'b')",
    "const at = posix.join(a, b)\nread(`${at}/x`)",
    "const at = nameOf(a)\nread(`${at}/x`)",
    "read(`${dirname(a)}-x/y`)",
    "new URL('x', base).pathname",
    "path.split('/')",
    "child.kill('SIGTERM')\nchild.kill('SIGKILL')\nchild.kill()",
    "process.once('SIGINT', act)",
    "if (process.platform !== 'win32') child.kill('SIGHUP')"
  ])("is not refused: %s", (text) => {
    expect(said(text)).toEqual([])
  })
})
