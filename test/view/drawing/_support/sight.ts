/** How colours look: to those who see all of them, and to those who do not. */

type Rgb = readonly [number, number, number]

/** Linear light from `#rrggbb`. */
const linear = (color: string): Rgb => {
  const channel = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(1), channel(3), channel(5)]
}

/** By Machado, Oliveira and Fernandes (2009), at full severity, on linear light. */
const kinds = {
  none: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039]
} as const

export type Sight = keyof typeof kinds

export const sights: ReadonlyArray<Sight> = ["none", "protanopia", "deuteranopia", "tritanopia"]

const seen = ([r, g, b]: Rgb, sight: Sight): Rgb => {
  const m = kinds[sight]
  const mixed = (at: number) => (m[at] ?? 0) * r + (m[at + 1] ?? 0) * g + (m[at + 2] ?? 0) * b
  const within = (value: number) => Math.min(1, Math.max(0, value))
  return [within(mixed(0)), within(mixed(3)), within(mixed(6))]
}

/** In OKLab, where equal steps look alike. */
const lab = ([r, g, b]: Rgb): Rgb => {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  ]
}

/** How far two colours are apart for a kind of sight, in OKLab times 100: 2 is just seen side by side. */
export const distance = (one: string, other: string, sight: Sight): number => {
  const [a, b] = [lab(seen(linear(one), sight)), lab(seen(linear(other), sight))]
  return 100 * Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])
}

const luminance = (color: string): number => {
  const [r, g, b] = linear(color)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Contrast as WCAG counts it: from 1 to 21. */
export const contrast = (one: string, other: string): number => {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05)
}

/** One colour over another, this opaque. */
export const over = (color: string, paper: string, opacity: number): string =>
  `#${[1, 3, 5]
    .map((at) => {
      const [a, b] = [color, paper].map((one) => Number.parseInt(one.slice(at, at + 2), 16))
      return Math.round((a ?? 0) * opacity + (b ?? 0) * (1 - opacity))
        .toString(16)
        .padStart(2, "0")
    })
    .join("")}`
