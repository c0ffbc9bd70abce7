/** A tab of headless Chromium, driven by its own protocol: it needs no package. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { flags, stop } from "./browser.ts"

type Message = {
  readonly id?: number
  readonly sessionId?: string
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** One page, and what went wrong in it. */
export interface Tab {
  readonly send: (method: string, params?: Readonly<Record<string, unknown>>) => Promise<unknown>
  /** Opens an address, and waits until all of it is loaded. */
  readonly open: (url: string) => Promise<void>
  /** The value of an expression, awaited. */
  readonly evaluate: <A>(expression: string) => Promise<A>
  /** Waits until an expression holds, looking once a frame. */
  readonly until: (expression: string) => Promise<void>
  readonly press: (key: string) => Promise<void>
  /** Moves, presses or releases at a place of the window. */
  readonly pointer: (type: "mouseMoved" | "mousePressed" | "mouseReleased", x: number, y: number) => Promise<void>
  /** Errors of the console, exceptions, and what the policy has blocked, since the page was opened. */
  readonly faults: Array<string>
}

const keys: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40
}

/** Starts Chromium, and gives a function that opens tabs; everything is gone when `use` is done. */
export const withBrowser = async (
  chromium: string,
  use: (tab: (scheme?: "light" | "dark") => Promise<Tab>) => Promise<void>
): Promise<void> => {
  const profile = mkdtempSync(join(tmpdir(), "kintsugi-chromium-"))
  const child = spawn(
    chromium,
    [
      ...flags(profile),
      "--hide-scrollbars",
      "--force-color-profile=srgb",
      "--font-render-hinting=none",
      "--remote-debugging-port=0",
      "about:blank"
    ],
    { stdio: ["ignore", "ignore", "pipe"], detached: true }
  )
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = ""
      child.once("error", reject)
      child.once("exit", (code) => reject(new Error(`Chromium ended with ${code}: ${said.slice(-2000)}`)))
      child.stderr.on("data", (chunk) => {
        said += String(chunk)
        const found = /DevTools listening on (ws:\S+)/.exec(said)
        if (found?.[1] !== undefined) resolve(found[1])
      })
    })
    const socket = new WebSocket(address)
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve, { once: true })
      socket.addEventListener("error", () => reject(new Error("no connection to Chromium")), { once: true })
    })
    await use(connect(socket))
    socket.close()
  } finally {
    await stop(child)
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

const connect = (socket: WebSocket) => {
  let last = 0
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >()
  const listeners = new Set<(message: Message) => void>()
  socket.addEventListener("message", ({ data }) => {
    const message: Message = JSON.parse(String(data))
    const asked = message.id === undefined ? undefined : waiting.get(message.id)
    if (message.id !== undefined) waiting.delete(message.id)
    if (message.error !== undefined) asked?.reject(new Error(message.error.message))
    else asked?.resolve(message.result)
    for (const listen of listeners) listen(message)
  })
  const send = (method: string, params: Readonly<Record<string, unknown>> = {}, sessionId?: string) =>
    new Promise<unknown>((resolve, reject) => {
      const id = ++last
      waiting.set(id, { resolve, reject })
      socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    })
  return async (scheme: "light" | "dark" = "light"): Promise<Tab> => {
    const { targetId } = Object(await send("Target.createTarget", { url: "about:blank" }))
    const { sessionId } = Object(await send("Target.attachToTarget", { targetId, flatten: true }))
    const own = (method: string, params?: Readonly<Record<string, unknown>>) => send(method, params, sessionId)
    const tab = tabOf(own, (listen) =>
      listeners.add((message) => {
        if (message.sessionId === sessionId) listen(message)
      })
    )
    for (const domain of ["Page", "Runtime", "Log", "Accessibility"]) await own(`${domain}.enable`)
    await own("Emulation.setDeviceMetricsOverride", { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false })
    await own("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
    return tab
  }
}

const LIMIT = 60_000

const tabOf = (send: Tab["send"], listen: (listener: (message: Message) => void) => void): Tab => {
  const faults: Array<string> = []
  let loaded: () => void = () => {}
  let isPressed = false
  listen(({ method, params = {} }) => {
    if (method === "Page.loadEventFired") loaded()
    if (method === "Runtime.exceptionThrown") faults.push(JSON.stringify(params["exceptionDetails"]))
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(String(params["type"])))
      faults.push(JSON.stringify(params["args"]))
    if (method === "Log.entryAdded") faults.push(JSON.stringify(params["entry"]))
    if (method === "Page.javascriptDialogOpening") faults.push("a dialog")
  })
  const evaluate = async <A>(expression: string): Promise<A> => {
    const { exceptionDetails, result } = Object(
      await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })
    )
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`)
    return result.value
  }
  return {
    send,
    faults,
    evaluate,
    open: async (url) => {
      faults.length = 0
      const done = new Promise<void>((resolve) => (loaded = resolve))
      await send("Page.navigate", { url })
      await done
    },
    until: async (expression) => {
      const isSo = await evaluate<boolean>(
        `new Promise((resolve) => { const end = performance.now() + ${LIMIT}; const look = () => (${expression}) ? resolve(true) : performance.now() > end ? resolve(false) : requestAnimationFrame(look); look() })`
      )
      if (!isSo) throw new Error(`it did not come to: ${expression}`)
    },
    press: async (key) => {
      const code = keys[key]
      const text = key === "Enter" ? "\r" : code === undefined ? key : undefined
      const params = { key, ...(code === undefined ? {} : { windowsVirtualKeyCode: code, code: key }) }
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...params, ...(text === undefined ? {} : { text }) })
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...params })
    },
    pointer: async (type, x, y) => {
      if (type !== "mouseMoved") isPressed = type === "mousePressed"
      await send("Input.dispatchMouseEvent", {
        type,
        x,
        y,
        button: type === "mouseMoved" && !isPressed ? "none" : "left",
        buttons: type === "mousePressed" || (type === "mouseMoved" && isPressed) ? 1 : 0,
        clickCount: 1
      })
    }
  }
}
