using System.ComponentModel;
using FastPort.Conformance;
using FastPort.Conformance.Adapters;
using FastPort.Conformance.Cases;

RunOptions options;
ConformanceCase[] cases;
try
{
    options = RunOptions.Parse(args);
}
catch (FormatException e)
{
    Console.Error.WriteLine($"{e.Message}\n\n{RunOptions.Usage}");
    return 2;
}

try
{
    cases = [.. CaseFolder.Read(options.Folder).Where(one => one.Name.Contains(options.Part, StringComparison.Ordinal))];
}
catch (Exception e) when (e is FormatException or IOException)
{
    Console.Error.WriteLine(e.Message);
    return 2;
}

if (cases.Length == 0)
{
    Console.Error.WriteLine($"No case in {options.Folder} has '{options.Part}' in its name; --list shows the names.");
    return 2;
}

if (options.OnlyList)
{
    foreach (ConformanceCase one in cases)
    {
        Console.WriteLine($"{one.Name}: {one.Shows}");
    }

    return 0;
}

var tap = new Tap(Console.Out);
tap.Begin(cases.Length * options.Transports.Length);
try
{
    foreach (string transport in options.Transports)
    {
        await using var run = new SuiteRun(transport, () => AdapterProcess.Start(options.Command));
        foreach (ConformanceCase one in cases)
        {
            tap.Add(transport, await run.PlayAsync(one), options.WithTrace);
        }
    }
}
catch (Exception e) when (e is CaseFailureException or FormatException or Win32Exception)
{
    Console.WriteLine($"Bail out! {e.Message}");
    return 1;
}

tap.End();
return tap.Failed == 0 && tap.Passed != 0 ? 0 : 1;
