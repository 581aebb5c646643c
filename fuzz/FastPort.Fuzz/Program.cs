using FastPort.Fuzz;
using SharpFuzz;

// fuzz TARGET          one input from standard input, for afl-fuzz
// replay TARGET DIR    every file of a directory, in this process
// mutate TARGET DIR SECONDS   inputs made at random from those of a directory, without knowledge of coverage
// seeds DIR            writes the seeds of all targets
// list                 the targets
switch (args)
{
    case ["list"]:
        Console.WriteLine(string.Join('\n', Target.All.Select(static t => t.Name)));
        return 0;
    case ["seeds", var directory]:
        foreach (Target one in Target.All)
        {
            string folder = Directory.CreateDirectory(Path.Combine(directory, one.Name)).FullName;
            int number = 0;
            foreach (byte[] seed in one.Seeds())
            {
                File.WriteAllBytes(Path.Combine(folder, $"seed-{number++:00}"), seed);
            }
        }

        return 0;
    case ["fuzz", var name] when Find(name) is { } target:
        Fuzzer.OutOfProcess.Run(stream =>
        {
            using var copy = new MemoryStream();
            stream.CopyTo(copy);
            if (copy.Length <= target.MaxBytes)
            {
                target.Run(copy.ToArray());
            }
        });
        return 0;
    case ["replay", var name, var directory] when Find(name) is { } target:
        return Runs.Replay(target, directory);
    case ["mutate", var name, var directory, var seconds] when Find(name) is { } target:
        return Runs.Mutate(target, directory, TimeSpan.FromSeconds(double.Parse(seconds)));
    default:
        Console.Error.WriteLine("usage: list | seeds DIR | fuzz TARGET | replay TARGET DIR | mutate TARGET DIR SECONDS");
        return 2;
}

static Target? Find(string name) => Target.All.FirstOrDefault(t => t.Name == name);
