/* The time of a field as the pages write times: each browser shows the field in its own way. */

const { lang } = document.documentElement;
const DAY = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, { dateStyle: "long", timeZone: "UTC" });
const MONDAY = 1, WEEK = 7, MORNING = 9;

export const write = (field) => {
  const [day, time] = field.value.split("T"), { zone } = field.dataset;
  const written = time && `${DAY.format(new Date(`${day}T00:00Z`))}, ${time.slice(0, 5)}`;
  field.form.querySelector(`output[for="${field.id}"]`).textContent = time ? written + (zone === "UTC" ? " UTC" : "") : "";
};

/* What the clocks of a time zone show, as if it were UTC: then the browser's own zone changes nothing. */
const clockOf = (zone) => new Date(`${new Date().toLocaleString("sv", { timeZone: zone }).replace(" ", "T")}Z`);
const daysUntil = { tomorrow: () => 1, monday: (today) => (WEEK + MONDAY - today) % WEEK || WEEK };

/* A button with a time that people often choose. */
export const fill = ({ dataset: { preset, fills } }) => {
  const field = document.getElementById(fills), at = clockOf(field.dataset.zone);
  if (preset === "hour") at.setUTCHours(at.getUTCHours() + 1);
  else {
    at.setUTCDate(at.getUTCDate() + daysUntil[preset](at.getUTCDay()));
    at.setUTCHours(MORNING, 0);
  }
  field.value = at.toISOString().slice(0, "2000-01-01T00:00".length);
  field.dispatchEvent(new Event("change", { bubbles: true }));
};
