/**
 * Looks at the pages of runs in headless Chromium: what is drawn, by keys and pointer, and what a hundred thousand events cost.
 *
 *   npm run test:system -- pictures
 *   npm run test:system -- pictures --write    (keeps what is drawn now as the reference)
 *
 * References are in `tools/system/pictures`: the drawing without its texts, as fonts differ between machines, and compared with a
 * tolerance.
 */
import { Page } from "@kintsugi/view"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { hostile, hostileRun } from "../../../test/view/_support/hostile.ts"
import { long, references, written } from "../../../test/view/_support/references.ts"
import type { Report } from "../../../scripts/report.ts"
import { backend } from "./pictures/backend.ts"
import { drawn } from "./pictures/drawn.ts"
import { large } from "./pictures/large.ts"
import { keyboard } from "./pictures/keyboard.ts"
import { live } from "./pictures/live.ts"
import { named } from "./pictures/named.ts"
import { narrow } from "./pictures/narrow.ts"
import { paper } from "./pictures/paper.ts"
import { picture } from "./pictures/picture.ts"
import { pointer } from "./pictures/pointer.ts"
import { harmless, unfolded } from "./pictures/hostile.ts"
import { still } from "./pictures/still.ts"
import { withBrowser } from "./browser.ts"
import { temporaryFolder } from "./ending.ts"

/** All of it, with a Chromium that is there. */
export const pictures = async (chromium: string, report: Report, isWritten = false): Promise<void> => {
  using folder = temporaryFolder("pictures")
  /** Writes a page where the browser finds it. */
  const writePage = (name: string, html: string): string => {
    const path = join(folder.path, `${name}.html`)
    writeFileSync(path, html)
    return pathToFileURL(path).href
  }
  await withBrowser(chromium, report, async (visit) => {
    for (const scheme of ["light", "dark"] as const) {
      for (const [name, reference] of Object.entries(references)) {
        const url = writePage(name, Page.make(await Effect.runPromise(reference)))
        await visit({ what: `the page of ${name}, ${scheme}`, url, scheme }, async (page) => {
          await drawn(page)
          await picture(page, report, `${name}-${scheme}`, isWritten)
          if (scheme === "light") await named(page, report, name)
        })
      }
    }
    const storm = writePage("storm", Page.make(written("storm")))
    await visit({ what: "by pointer", url: storm }, (page) => pointer(page, report))
    await visit({ what: "by keys", url: storm, expected: /Content Security Policy|csp/ }, (page) =>
      keyboard(page, report)
    )
    for (const [at, text] of hostile.entries()) {
      const url = writePage("hostile", Page.make(hostileRun(text), { title: text }))
      await visit({ what: `hostile text ${at + 1}`, url }, async (page) => {
        await harmless(page, report, at + 1)
        if (at === hostile.length - 1) await unfolded(page, report)
      })
    }
    await live(visit, report)
    await backend(visit, report, writePage)
    await narrow(visit, report, storm)
    await paper(visit, report, writePage)
    await still(visit, report, writePage)
    await visit({ what: "100,000 events", url: writePage("long", Page.make(long())) }, async (page) => {
      await drawn(page)
      await picture(page, report, "long-light", isWritten)
      await large(page, report)
    })
  })
}
