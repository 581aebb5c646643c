using System.ComponentModel;
using FastPort.Conformance;
using FastPort.Conformance.Adapters;
using FastPort.Conformance.Cases;
using FastPort.Conformance.Serving;

const string Usage =
    """
    FastPort.Conformance [options] -- COMMAND [ARGUMENTS]
      COMMAND              starts the adapter of the client under test
      --transport NAMES    tcp, tls, unix, ws, wss; several with commas (tcp)
      --case TEXT          only cases whose names contain the text
      --cases FOLDER       the cases (those next to this program)
      --trace              what happened in each case, also if it passed
      --list               the cases, without playing them
    """;

List<string> own = [.. args.TakeWhile(static arg => arg != "--")];
string[] command = [.. args.Skip(own.Count + 1)];
string[] transports = Option("--transport", "tcp").Split(',');
string part = Option("--case", string.Empty);
string folder = Option("--cases", CaseFolder.Default);
bool withTrace = own.Remove("--trace");
bool onlyList = own.Remove("--list");
if (own.Count != 0 || (command.Length == 0 && !onlyList) || transports.Except(Site.Transports.Except(["inproc"])).Any())
{
    Console.Error.WriteLine(Usage);
    return 2;
}

ConformanceCase[] cases;
try
{
    cases = [.. CaseFolder.Read(folder).Where(c => c.Name.Contains(part, StringComparison.Ordinal))];
}
catch (Exception e) when (e is FormatException or IOException)
{
    Console.Error.WriteLine(e.Message);
    return 2;
}

if (onlyList)
{
    foreach (ConformanceCase one in cases)
    {
        Console.WriteLine($"{one.Name}: {one.Shows}");
    }

    return 0;
}

var tap = new Tap(Console.Out);
tap.Begin(cases.Length * transports.Length);
try
{
    foreach (string transport in transports)
    {
        await using var run = new SuiteRun(transport, () => AdapterProcess.Start(command));
        foreach (ConformanceCase one in cases)
        {
            tap.Add(transport, await run.PlayAsync(one), withTrace);
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

string Option(string name, string otherwise)
{
    int at = own.IndexOf(name);
    if (at < 0 || at + 1 >= own.Count)
    {
        return otherwise;
    }

    string value = own[at + 1];
    own.RemoveRange(at, 2);
    return value;
}
