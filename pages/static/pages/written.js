/* The time of a field as the pages write times: each browser shows the field in its own way. */

const { lang } = document.documentElement;
const DAY = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, { dateStyle: "long", timeZone: "UTC" });

export const write = (field) => {
  const [day, time] = field.value.split("T"), { zone } = field.dataset;
  const written = time && `${DAY.format(new Date(`${day}T00:00Z`))}, ${time.slice(0, 5)}`;
  field.form.querySelector(`output[for="${field.id}"]`).textContent = time ? written + (zone === "UTC" ? " UTC" : "") : "";
};
