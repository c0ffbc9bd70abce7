/**
 * Looks at the pages of runs in headless Chromium: what is drawn, by keys and pointer, and what a hundred thousand events cost.
 *
 *   node scripts/launch.mjs tools/system/src/pictures.ts            (alone; npm run test:system does it too)
 *   node scripts/launch.mjs tools/system/src/pictures.ts --write    (keeps what is drawn now as the reference)
 *
 * References are in `tools/system/pictures`: the drawing without its texts, as fonts differ between machines, and compared with a
 * tolerance.
 */
import { Page } from "@kintsugi/view"
import { Effect } from "effect"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { hostile, hostileRun } from "../../../test/view/_support/hostile.ts"
import { long, references, written } from "../../../test/view/_support/references.ts"
import { root } from "../../../scripts/files.ts"
import { Report } from "../../../scripts/report.ts"
import { provide } from "../../../scripts/provide.ts"
import { backend } from "./pictures/backend.ts"
import { large } from "./pictures/large.ts"
import { folding, keyboard, names } from "./pictures/keyboard.ts"
import { live } from "./pictures/live.ts"
import { narrow } from "./pictures/narrow.ts"
import { paper } from "./pictures/paper.ts"
import { pointer } from "./pictures/pointer.ts"
import { still } from "./pictures/still.ts"
import { type Tab, withBrowser } from "./tab.ts"
import { tools } from "./tools.ts"

const kept = join(root, "tools/system/pictures")

/** Writes a page where a tab finds it. */
const place = (folder: string, name: string, html: string): string => {
  const path = join(folder, `${name}.html`)
  writeFileSync(path, html)
  return pathToFileURL(path).href
}

const ready = "document.querySelector('.figure')?.dataset.drawing !== undefined"

/** The drawing as a PNG in base64, without its texts and what stands beside its rows. */
const drawing = async (tab: Tab): Promise<string> => {
  await tab.evaluate(
    "{ const sheet = new CSSStyleSheet(); sheet.replaceSync('svg text { fill: transparent !important }'); document.adoptedStyleSheets = [sheet] }"
  )
  await tab.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
  const clip = await tab.evaluate(
    "(() => { const { x, y, width, height } = document.querySelector('.figure').getBoundingClientRect(); return { x: x + scrollX + 132, y: y + scrollY + 30, width: width - 132, height: height - 30, scale: 1 } })()"
  )
  const { data } = Object(await tab.send("Page.captureScreenshot", { format: "png", clip }))
  return data
}

/** How much of two pictures differs, from 0 to 1; 1 where their sizes do. */
const difference = (tab: Tab, one: string, other: string): Promise<number> =>
  tab.evaluate(`(async () => {
    const read = async (data) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "image/png" }))
      const context = new OffscreenCanvas(image.width, image.height).getContext("2d")
      context.drawImage(image, 0, 0)
      return context.getImageData(0, 0, image.width, image.height)
    }
    const [a, b] = [await read(${JSON.stringify(one)}), await read(${JSON.stringify(other)})]
    if (a.width !== b.width || Math.abs(a.height - b.height) > 2) return 1
    let differing = 0
    const size = Math.min(a.data.length, b.data.length)
    for (let at = 0; at < size; at += 4)
      if ([0, 1, 2].some((channel) => Math.abs(a.data[at + channel] - b.data[at + channel]) > 40)) differing++
    return differing / (size / 4)
  })()`)

const looked = async (tab: Tab, report: Report, name: string, isWritten: boolean): Promise<void> => {
  const path = join(kept, `${name}.png`)
  const data = await drawing(tab)
  if (isWritten) {
    mkdirSync(kept, { recursive: true })
    writeFileSync(path, Buffer.from(data, "base64"))
  }
  if (!existsSync(path)) return report.check(`the picture of ${name} has a reference`, false, path)
  const share = await difference(tab, readFileSync(path).toString("base64"), data)
  report.check(`the picture of ${name} is the reference`, share < 0.005, `${(100 * share).toFixed(2)}% of it differs`)
}

/** All of it, with a Chromium that is there. */
export const pictures = async (chromium: string, report: Report, isWritten = false): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "kintsugi-pictures-"))
  try {
    await withBrowser(chromium, async (open) => {
      for (const scheme of ["light", "dark"] as const) {
        const tab = await open(scheme)
        for (const [name, reference] of Object.entries(references)) {
          const url = place(folder, name, Page.make(await Effect.runPromise(reference)))
          await tab.open(url)
          await tab.until(ready)
          await looked(tab, report, `${name}-${scheme}`, isWritten)
          report.check(
            `the page of ${name}, ${scheme}: no error in the console`,
            tab.faults.length === 0,
            tab.faults.join()
          )
          if (scheme === "light") await names(tab, report, name)
        }
      }
      const tab = await open()
      for (const used of [pointer, keyboard]) {
        await tab.open(place(folder, "storm", Page.make(written("storm"))))
        await tab.until(ready)
        await used(tab, report)
      }
      for (const [at, text] of hostile.entries()) {
        await tab.open(place(folder, "hostile", Page.make(hostileRun(text), { title: text })))
        await tab.until(ready)
        await tab.evaluate("document.querySelector('.figure').focus()")
        await tab.press("ArrowRight")
        const said = await tab.evaluate<string>(
          "JSON.stringify([globalThis.hacked, document.scripts.length, document.querySelectorAll('img, iframe, object, style').length, [...document.querySelectorAll('*')].some((one) => [...one.attributes].some(({ name }) => name.startsWith('on')))])"
        )
        const isSafe = said === "[null,2,1,false]" && tab.faults.length === 0
        report.check(`hostile text ${at + 1} does nothing`, isSafe, `${said} ${tab.faults.join()}`)
      }
      await folding(tab, report)
      await live(tab, report)
      await backend(tab, report, (name, html) => place(folder, name, html))
      await narrow(tab, report, (name, html) => place(folder, name, html))
      await paper(tab, report, (name, html) => place(folder, name, html))
      await still(tab, report, (name, html) => place(folder, name, html))
      await tab.open(place(folder, "long", Page.make(long())))
      await tab.until(ready)
      await looked(tab, report, "long-light", isWritten)
      await large(tab, report)
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const report = new Report()
  const found = provide(tools.chromium, true)
  if ("why" in found) report.skip("pictures", `Chromium is missing: ${found.why}`)
  else await pictures(found.path, report, process.argv.includes("--write"))
  process.exitCode = report.end() ? 0 : 1
}
