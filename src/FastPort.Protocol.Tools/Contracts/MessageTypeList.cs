using System.Globalization;
using System.Text.RegularExpressions;

namespace FastPort.Protocol.Tools.Contracts;

/// <summary>
/// The checked-in list of message types, a line <c>0x1000 game.Move/Walk</c> each. A number that is listed belongs to its method for good,
/// also when the method is removed. Lines that are empty or begin with # are kept at the top.
/// </summary>
internal sealed class MessageTypeList
{
    private static readonly Regex Line = new(@"^0x(?<number>[0-9A-Fa-f]{4})\s+(?<name>[\w.]+/\w+)\s*$", RegexOptions.CultureInvariant);

    private readonly string _path;
    private readonly List<string> _comments = [];
    private readonly SortedDictionary<long, string> _methods = [];

    private MessageTypeList(string path) => _path = path;

    /// <summary>Reads a list.</summary>
    /// <param name="path">The file, for errors.</param>
    /// <param name="lines">Its lines.</param>
    /// <param name="problems">Receives the lines that cannot be read.</param>
    public static MessageTypeList Read(string path, IReadOnlyList<string> lines, List<Problem> problems)
    {
        var list = new MessageTypeList(path);
        for (int i = 0; i < lines.Count; i++)
        {
            string line = lines[i].Trim();
            Match match = Line.Match(line);
            if (line.Length == 0 || line[0] == '#')
            {
                list._comments.Add(line);
            }
            else if (!match.Success)
            {
                problems.Add(new Problem(
                    Problem.BadList, path, new Place(i + 1, 1), $"'{line}' is no line of a list of message types, such as "
                    + "'0x1000 game.Move/Walk'."));
            }
            else
            {
                list.Add(match, new Place(i + 1, 1), problems);
            }
        }

        return list;
    }

    /// <summary>Compares the methods of a build with the list.</summary>
    public IEnumerable<Problem> Check(IReadOnlyList<ContractMethod> methods)
    {
        var numbers = _methods.ToDictionary(m => m.Value, m => m.Key, StringComparer.Ordinal);
        string list = Path.GetFileName(_path);
        foreach (ContractMethod method in methods.Where(m => m.Number is not null))
        {
            long number = method.Number!.Value;
            if (numbers.TryGetValue(method.FullName, out long listed))
            {
                if (listed != number)
                {
                    yield return Problem.OfNumber(
                        method,
                        Problem.NumberChanged,
                        $"{method.FullName} has message type 0x{number:X4}, but 0x{listed:X4} in {list}: older peers could not call it. "
                        + $"Set (fastport.type) = 0x{listed:X4}; if there are no older peers, correct the line in {list}.");
                }
            }
            else if (_methods.TryGetValue(number, out string? owner))
            {
                yield return Problem.OfNumber(
                    method,
                    Problem.NumberReserved,
                    $"{method.FullName} has message type 0x{number:X4}, which {list} reserves for {owner}; choose another number. If the "
                    + $"method was renamed, rename it in {list}.");
            }
            else
            {
                yield return Problem.OfNumber(
                    method,
                    Problem.NotListed,
                    $"{method.FullName}, message type 0x{number:X4}, is not in {list}; add it with 'dotnet build -t:WriteMessageTypes'.");
            }
        }
    }

    /// <summary>The lines with methods of a build that the list lacks.</summary>
    /// <param name="methods">The methods, without problems but those.</param>
    public IEnumerable<string> LinesWith(IEnumerable<ContractMethod> methods)
    {
        var all = new SortedDictionary<long, string>(_methods);
        foreach (ContractMethod method in methods)
        {
            all[method.Number!.Value] = method.FullName;
        }

        return [.. _comments, .. all.Select(m => string.Format(CultureInfo.InvariantCulture, "0x{0:X4} {1}", m.Key, m.Value))];
    }

    private void Add(Match match, Place place, List<Problem> problems)
    {
        long number = long.Parse(match.Groups["number"].Value, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        string name = match.Groups["name"].Value;
        if (_methods.ContainsKey(number) || _methods.ContainsValue(name))
        {
            problems.Add(new Problem(
                Problem.BadList, _path, place, $"0x{number:X4} or {name} is in the list twice; remove one of the lines."));
        }
        else
        {
            _methods.Add(number, name);
        }
    }
}
