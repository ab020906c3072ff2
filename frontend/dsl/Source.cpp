//===- Source.cpp - texts of the model language, and what is wrong in them ===//

#include "frontend/dsl/Source.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace colrow::dsl {

static bool isText(StringRef bytes) {
  auto *begin = reinterpret_cast<const UTF8 *>(bytes.begin());
  auto *end = reinterpret_cast<const UTF8 *>(bytes.end());
  return !bytes.contains('\0') && isLegalUTF8String(&begin, end);
}

StringRef Sources::open(const std::string &path, SMRange from) {
  auto refuse = [&](const std::string &message) {
    if (from.isValid())
      fail(from, message);
    throw Error(message);
  };
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    refuse("cannot read '" + path + "': " + buffer.getError().message());
  if (!isText((*buffer)->getBuffer()))
    refuse("'" + path +
           "' is no text; a model in Colrow's language is a text file, an ONNX model "
           "is named *.onnx");
  opened.push_back(path);
  unsigned id = manager.AddNewSourceBuffer(std::move(*buffer), from.Start);
  return manager.getMemoryBuffer(id)->getBuffer();
}

StringRef Sources::add(const std::string &name, StringRef text) {
  opened.push_back(name);
  unsigned id = manager.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(text, name), SMLoc());
  return manager.getMemoryBuffer(id)->getBuffer();
}

void Sources::fail(SMRange where, const Twine &message, ArrayRef<Note> notes) const {
  std::string text;
  raw_string_ostream stream(text);
  auto print = [&](SMRange range, SourceMgr::DiagKind kind, const Twine &what) {
    manager.PrintMessage(stream, manager.GetMessage(range.Start, kind, what, range),
                         /*ShowColors=*/false);
  };
  print(where, SourceMgr::DK_Error, message);
  for (const Note &note : notes)
    print(note.where, SourceMgr::DK_Note, note.text);
  throw SourceError(StringRef(text).rtrim('\n').str());
}

std::string suggestion(StringRef name, ArrayRef<std::string> known) {
  const std::string *best = nullptr;
  unsigned least = name.size() < 3 ? 1 : name.size() < 5 ? 2 : 3; // else another word
  for (const std::string &each : known)
    if (unsigned distance = name.edit_distance(each, /*AllowReplacements=*/true, least);
        distance < least) {
      least = distance;
      best = &each;
    }
  return best ? "; did you mean '" + *best + "'?" : "";
}

} // namespace colrow::dsl
