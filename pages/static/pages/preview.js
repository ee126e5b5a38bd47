/* A chosen picture is shown before it is saved. The content policy allows no other address than data:. */

export const show = (input) => {
  const [file] = input.files, reader = new FileReader();
  if (!file) return;
  reader.addEventListener("load", () => { document.getElementById(input.dataset.preview).src = reader.result; });
  reader.readAsDataURL(file);
};
