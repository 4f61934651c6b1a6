#include <boxcar/dispatcher/fallbacks/replay.h>
#include <boxcar/interpreter/cli/command.h>
#include <boxcar/interpreter/cli/machine_options.h>
#include <boxcar/interpreter/cli/tolerance_options.h>
#include <boxcar/ivalue/device.h>

#include <memory>
#include <string>

namespace boxcar::cli {

void addReplay(CLI::App& app, int& status) {
  CLI::App* command =
      app.add_subcommand("replay", "Make the calls of a recording again and compare what comes of them");
  const auto path = std::make_shared<std::string>();
  const auto tolerance = std::make_shared<Tolerance>();
  const auto device = std::make_shared<std::string>();
  command->add_option("REC", *path, "The recording")->required()->type_name("");
  addToleranceOptions(*command, tolerance);
  command->add_option("--device", *device, "Put the arguments' tensors there, whatever device they lay on")
      ->type_name("DEVICE");
  const auto machine = std::make_shared<MachineOptions>();
  addMachineOptions(*command, machine);
  command->callback([path, tolerance, device, machine, &status] {
    applyThreads(*machine);
    const CpuFallbacks fallbacks(*machine);
    ReplayOptions options{.tolerance = *tolerance};
    if (!device->empty()) options.device = Device(*device);
    const ReplayReport report = replay(Recording::open(*path), options);
    print(toString(report));
    printError(fallbacks.report());
    status = report.agrees() ? kDone : kFailed;
  });
}

}  // namespace boxcar::cli
