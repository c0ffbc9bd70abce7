/** A short load, from the command line: what is said, and that no process is left. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { describe, expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"

const load = (...options: ReadonlyArray<string>): ChildProcess =>
  spawn(process.execPath, [join(root, "tools/load/src/main.ts"), "--clients=10", "--rate=20", ...options], {
    stdio: ["ignore", "pipe", "inherit"]
  })

const textOf = async ({ stdout }: ChildProcess): Promise<string> => {
  let text = ""
  for await (const part of stdout ?? []) text += String(part)
  return text
}

/** Waits until runs arrive; gives a connection to each server, which ends with its process. */
const atWork = async ({
  stdout
}: ChildProcess): Promise<{ readonly pids: ReadonlyArray<number>; readonly socket: Socket }> => {
  if (stdout === null) throw new TypeError("a program with an output")
  for await (const line of createInterface({ input: stdout })) {
    const [, port, pids] = /^bare: http:\/\/127\.0\.0\.1:(\d+), processes (.*)$/.exec(line) ?? []
    if (pids === undefined) continue
    const socket = connect(Number(port), "127.0.0.1")
    socket.on("error", () => {})
    await once(socket, "connect")
    return { pids: pids.split(", ").map(Number), socket }
  }
  throw new Error("it has ended")
}

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe.concurrent("a short load", () => {
  it("ends well: every run is answered, or has failed as the log knows", { timeout: 180_000 }, async () => {
    const child = load("--minutes=0.05", "--subject=kintsugi")
    const closed = once(child, "close")
    const text = await textOf(child)
    expect(await closed, text).toEqual([0, null])
    const row = (name: string) => Number(new RegExp(`^${name} +(\\d+)`, "m").exec(text)?.[1])
    expect(row("runs")).toBeGreaterThan(20)
    expect(row("answered") + row("failed, as the log knows")).toBe(row("runs"))
    expect(row("answered")).toBeGreaterThan(row("met a fault, of which answered"))
    expect(row("lost")).toBe(0)
  })

  it("leaves no process when it is interrupted", { timeout: 60_000 }, async () => {
    const child = load("--minutes=10", "--subject=bare")
    const closed = once(child, "close")
    const { pids, socket } = await atWork(child)
    child.kill("SIGINT")
    expect(await closed).toEqual([130, null])
    expect(pids.length).toBe(3)
    expect(pids.filter(isThere)).toEqual([])
    socket.destroy()
  })

  it("leaves no process when it is killed", { timeout: 60_000 }, async () => {
    const child = load("--minutes=10", "--subject=bare")
    const closed = once(child, "close")
    const { socket } = await atWork(child)
    // of a connection that is reset, `once` would tell the error instead
    const ended = new Promise((resolve) => socket.once("close", resolve))
    child.kill("SIGKILL")
    expect(await closed).toEqual([null, "SIGKILL"])
    // its servers notice, and end
    await ended
  })
})
