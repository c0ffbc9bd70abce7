/** The script of the page. It reads the recording in the page, or the URL of a run at work, and shows it. */
import { visible } from "../text/Escape.ts"
import { fieldOf, textAt } from "../recording/Fields.ts"
import type { Links } from "../recording/Links.ts"
import { titleOf } from "../recording/Outcome.ts"
import * as Recording from "../recording/Recording.ts"
import { element } from "./Element.ts"
import { follow, Listening } from "./live.ts"
import { mount, type Mounted } from "./mount.ts"

/**
 * Makes a function that takes the events of a run at work and draws them. The pauses between drawings are at least four times as long as
 * drawing takes.
 */
const watch = ({ store }: Mounted, listening: Listening, status: HTMLElement) => {
  let isDue = false
  let pause = 100
  const draw = () => {
    isDue = false
    const begun = performance.now()
    store.renew(listening.recording())
    pause = Math.max(100, 4 * (performance.now() - begun))
  }
  return (name: string, data: string) => {
    listening.take(name, data)
    if (listening.said !== undefined) status.textContent = visible(listening.said)
    if (isDue) return
    isDue = true
    setTimeout(draw, pause)
  }
}

/** The templates of links that the maker of the page has given. */
const linksIn = (data: unknown): Links => {
  const given = (["trace", "docs", "editor", "folder"] as const).flatMap((name) => {
    const link = textAt(data, "links", name)
    return link === undefined ? [] : [[name, link] as const]
  })
  return Object.fromEntries(given)
}

/** What the maker of the page has given besides the events. */
const aboutOf = (data: unknown) => ({
  title: textAt(data, "title"),
  test: textAt(data, "test"),
  links: linksIn(data)
})

const start = (): void => {
  const main = document.querySelector("main")
  const head = document.querySelector("header")
  const written = document.querySelector("#data")?.textContent
  // Mutant `false` for `written === null` survives: an element has a text
  if (main === null || head === null || written === undefined || written === null) return
  const data: unknown = JSON.parse(written)
  const url = textAt(data, "url")
  if (url !== undefined) return void live(head, main, data, url)
  // cast: `Page.make` has written a recording
  const { events, problems } = data as Recording.Recording
  mount({ head, main, ...aboutOf(data) }, { events, problems }, false)
}

const live = async (head: HTMLElement, main: HTMLElement, data: unknown, url: string): Promise<void> => {
  const listening = new Listening(Recording.start())
  const status = element("p", { class: "stream", role: "status" }, "The run is at work.")
  const mounted = mount({ head, main, ...aboutOf(data) }, listening.recording(), true)
  const { store } = mounted
  main.prepend(status)
  store.listen((change) => {
    if (change === "scene" && store.outcome !== undefined)
      document.title =
        listening.isConnected && store.outcome.kind === "unfinished"
          ? `● ${store.outcome.agent}`
          : titleOf(store.outcome)
  })
  const body = fieldOf(data, "body")
  const end = (text: string) => {
    listening.isConnected = false
    mounted.isLive = false
    status.textContent = visible(listening.said === undefined ? text : `${listening.said} ${text}`)
    store.renew(listening.recording())
  }
  try {
    await follow({ url, body }, watch(mounted, listening, status))
    end("The stream has ended.")
  } catch (error) {
    end(`The stream broke off: ${error instanceof Error ? error.message : String(error)}`)
  }
}

// the browser first paints the static part of the page, and then this script builds the rest
requestAnimationFrame(() => setTimeout(start))
