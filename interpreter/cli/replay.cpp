#include <boxcar/dispatcher/handlers/record/replay.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/machine_options.h>
#include <boxcar/interpreter/cli/progress.h>
#include <boxcar/interpreter/cli/tolerance_options.h>
#include <boxcar/ivalue/device.h>
#include <boxcar/ivalue/error.h>

#include <memory>
#include <string>

namespace boxcar::cli {

void addReplay(CLI::App& app, int& status) {
  CLI::App* command = app.add_subcommand("replay", "Repeat the calls of a recording and compare their results");
  const auto path = std::make_shared<std::string>();
  const auto tolerance = std::make_shared<Tolerance>();
  const auto device = std::make_shared<std::string>();
  command->add_option("REC", *path, "The recording")->required()->type_name("");
  addToleranceOptions(*command, tolerance);
  command->add_option("--device", *device, "Move the arguments' tensors to this device first")
      ->type_name("DEVICE")
      ->check(CLI::Validator(
          [](const std::string& text) {
            try {
              static_cast<void>(Device(text));
              return std::string();
            } catch (const Error& error) {
              return error.message();
            }
          },
          ""));
  const auto machine = std::make_shared<MachineOptions>();
  addMachineOptions(*command, machine);
  addExamples(*command, {"boxcar replay model.rec", "boxcar replay model.rec --device cuda --rtol 1e-5"});
  command->callback([path, tolerance, device, machine, &status] {
    applyThreads(*machine);
    const CpuFallbacks fallbacks(*machine);
    ReplayOptions options{.tolerance = *tolerance};
    if (!device->empty()) options.device = Device(*device);
    const Recording recording = Recording::open(*path);
    volatile uint64_t calls_made = 0;
    options.calls_made = &calls_made;
    const ReplayReport report = [&] {
      const Progress progress("replay", {&calls_made, recording.calls().size(), "calls"});
      return replay(recording, options);
    }();
    print(toString(report));
    printError(fallbacks.report());
    status = report.agrees() ? kDone : kFailed;
  });
}

}  // namespace boxcar::cli
