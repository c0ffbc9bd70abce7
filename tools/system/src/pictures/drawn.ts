/** Waits for what a page draws, and says where it is. */
import type { Locator, Page } from "playwright-core"

/** Until the page is there for the first time. */
export const drawn = async (page: Page): Promise<void> => {
  await page.locator("html[data-ready]").waitFor({ state: "attached" })
  await redrawn(page)
}

/** Until what was changed is drawn: a page draws once a frame. */
export const redrawn = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))))

/** Where something is in the window. */
export const boxOf = async (part: Locator) => {
  const box = await part.boundingBox()
  if (box === null) throw new Error(`${part} is not there`)
  return box
}
