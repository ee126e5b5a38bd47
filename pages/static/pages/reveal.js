/* Shows a password while it is typed. It is sent as a password again, so that browsers offer to keep it. */

export const open = (button) => {
  const field = button.previousElementSibling, isHidden = field.type === "password";
  field.type = isHidden ? "text" : "password";
  button.ariaPressed = isHidden;
  field.form.addEventListener("submit", () => { field.type = "password"; }, { once: true });
};
