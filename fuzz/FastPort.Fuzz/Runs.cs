using System.Diagnostics;

namespace FastPort.Fuzz;

/// <summary>Runs inputs in this process.</summary>
internal static class Runs
{
    /// <summary>Every file of a directory. Returns 1 if one is a finding.</summary>
    public static int Replay(Target target, string directory)
    {
        int count = 0;
        foreach (string file in Directory.GetFiles(directory).Order(StringComparer.Ordinal))
        {
            count++;
            if (!Try(target, File.ReadAllBytes(file), file))
            {
                return 1;
            }
        }

        Console.WriteLine($"{target.Name}: {count} inputs replayed, no finding");
        return 0;
    }

    /// <summary>Inputs made from those of a directory, for a time. Returns 1 if one is a finding, which is written beside them.</summary>
    public static int Mutate(Target target, string directory, TimeSpan time)
    {
        byte[][] corpus = [.. Directory.GetFiles(directory).Order(StringComparer.Ordinal).Select(File.ReadAllBytes)];
        int seed = Random.Shared.Next();
        var random = new Random(seed);
        long count = 0;
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < time; count++)
        {
            byte[] input = Change(corpus, random, target.MaxBytes);
            if (!Try(target, input, $"{target.Name} seed {seed}, input {count}"))
            {
                string file = Path.Combine(Path.GetTempPath(), $"finding-{target.Name}-{seed}-{count}");
                File.WriteAllBytes(file, input);
                Console.WriteLine($"the input is in {file}");
                return 1;
            }
        }

        Console.WriteLine($"{target.Name}: {count} inputs in {time.TotalSeconds:0.#} s, no finding (seed {seed})");
        return 0;
    }

    private static byte[] Change(byte[][] corpus, Random random, int maxBytes)
    {
        List<byte> bytes = [.. corpus[random.Next(corpus.Length)]];
        for (int changes = random.Next(1, 8); changes > 0; changes--)
        {
            int place = random.Next(bytes.Count + 1);
            switch (random.Next(6))
            {
                case 0 when place < bytes.Count:
                    bytes[place] = (byte)random.Next();
                    break;
                case 1 when place < bytes.Count:
                    bytes[place] ^= (byte)(1 << random.Next(8));
                    break;
                case 2 when place < bytes.Count:
                    bytes.RemoveRange(place, random.Next(1, Math.Min(16, bytes.Count - place + 1)));
                    break;
                case 3:
                    bytes.InsertRange(place, Enumerable.Range(0, random.Next(1, 9)).Select(_ => (byte)random.Next()));
                    break;
                case 4 when place < bytes.Count:
                    bytes[place] = random.Next(2) == 0 ? (byte)0xFF : (byte)0;
                    break;
                default:
                    byte[] other = corpus[random.Next(corpus.Length)];
                    int from = random.Next(other.Length + 1);
                    bytes.InsertRange(place, other[from..random.Next(from, other.Length + 1)]);
                    break;
            }
        }

        return [.. bytes.Take(maxBytes)];
    }

    private static bool Try(Target target, byte[] input, string what)
    {
        try
        {
            target.Run(input);
            return true;
        }
        catch (Exception e)
        {
            Console.WriteLine($"FINDING {what}: {e}");
            return false;
        }
    }
}
